"""MJCF models of tests: one with everything that is read, one with loops."""

EVERYTHING = """
<mujoco model="everything">
  <compiler angle="degree" eulerseq="zyx" autolimits="true"/>
  <option gravity="0.3 -0.2 -9.5"/>
  <default>
    <joint damping="0.2"/>
    <default class="stiff"><joint stiffness="3" springref="10" armature="0.07"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="base" pos="0.1 0 1" euler="20 10 5">
      <inertial pos="0.02 0.01 0" mass="2" fullinertia="0.02 0.03 0.025 0.001 -0.002 0.003"/>
      <joint name="rail" type="slide" axis="1 0 0" ref="0.3" armature="0.5" range="-2 2"/>
      <joint name="yaw" axis="0 0 1" pos="0.05 0 0" ref="15" class="stiff"/>
      <joint name="tilt" axis="0 1 1" stiffness="1 2 3" springref="5" damping="0.1 0.2 0.3"/>
      <site name="tip" pos="0.1 0 0.2" euler="30 0 0"/>
      <geom name="box" type="box" size="0.1 0.2 0.3"/>
      <body name="arm" pos="0.2 0.1 0" quat="0.9 0.1 -0.2 0.3" gravcomp="0.4">
        <joint name="elbow" axis="0 1 0" pos="0 0 0.1" armature="0.02" actuatorfrcrange="-1 1"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.05" density="700"/>
        <body name="ball" pos="0 0 0.4">
          <joint name="socket" type="ball" pos="0 0 0.02"/>
          <geom type="sphere" size="0.08"/>
        </body>
        <body name="fixed part" pos="0 0.1 0"><geom type="cylinder" size="0.03 0.1"/></body>
      </body>
    </body>
    <body name="flyer" pos="1 2 3" euler="0 40 10">
      <freejoint name="loose"/>
      <geom type="box" size="0.1 0.15 0.2" pos="0.02 0 0"/>
      <site name="rotor" pos="0.1 0 0.05" euler="0 20 0"/>
      <body><joint axis="1 0 0"/><geom type="ellipsoid" size="0.05 0.06 0.07" pos="0.1 0 0"/></body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="cord" stiffness="2" damping="0.3" springlength="0.1"><joint joint="yaw" coef="0.5"/>
      <joint joint="elbow" coef="-1.5"/></fixed>
    <spatial name="rope"><site site="tip"/><site site="rotor"/><site site="tip"/></spatial>
    <spatial name="rubber" stiffness="5" damping="0.4" springlength="1.2">
      <site site="tip"/><site site="rotor"/></spatial>
  </tendon>
  <actuator>
    <motor name="elbow" joint="elbow" gear="3" ctrlrange="-1 0.5"/>
    <position name="yaw servo" joint="yaw" kp="20" kv="2" gear="2" forcerange="-5 5"/>
    <velocity name="rail_speed" joint="rail" kv="7"/>
    <general name="tilter" joint="tilt" gaintype="affine" gainprm="2 0.5 0.25" biastype="affine" biasprm="1 -2 -3"/>
    <motor name="pull" tendon="cord" gear="1.7"/>
    <motor name="twist" joint="socket" gear="0.1 0.2 0.3"/>
    <motor name="thrust" site="rotor" gear="0 0 4 0 0.1 0.2"/>
    <intvelocity name="creep" joint="elbow" kp="3" actrange="-1 1"/>
    <general name="lagging" joint="rail" dyntype="filter" dynprm="0.3" gainprm="2"/>
    <muscle name="biceps" joint="elbow" lengthrange="-1 1"/>
  </actuator>
  <keyframe><key name="other" qpos="0 0 0 0 1 0 0 0 1 2 3 1 0 0 0 0"/>
    <key name="home" qpos="0.1 0.2 0.3 0.4 1 0 0 0 1 2 3 1 0 0 0 0.5"
         qvel="0 0 0 0.7 0 0 0 1 0 0 0 0 0 0" ctrl="0.25 0 0 0 0 0 0 0 0 0"/></keyframe>
  <sensor><jointpos joint="elbow"/></sensor>
</mujoco>
"""

LOOPS = """
<mujoco model="loops">
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <body name="crank" pos="0 0 0"><joint name="crank" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.02"/>
      <body name="rod" pos="0 0 0.3"><joint name="rod" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.6 0 0.1" size="0.02"/></body></body>
    <body name="rocker" pos="0.6 0 0"><joint name="rocker" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.02"/>
      <body name="tool" pos="0 0 0.2"><freejoint_ /></body></body>
    <body name="plate" pos="0 1 0.5"><freejoint/><geom type="box" size="0.1 0.1 0.02"/></body>
    <body name="post" pos="0 1 0"><joint name="lift" type="slide" axis="0 0 1"/><geom size="0.05"/></body>
    <body name="wheel" pos="0 2 0"><joint name="wheel" axis="1 0 0"/><geom size="0.1" pos="0 0.05 0"/></body>
    <body name="pinned" pos="0 3 0"><joint name="pinned" axis="1 0 0"/><geom size="0.1" pos="0 0.05 0"/></body>
  </worldbody>
  <equality>
    <connect name="pin" body1="rod" body2="rocker" anchor="0.6 0 0.1"/>
    <weld name="glue" body1="post" body2="plate"/>
    <joint name="drive" joint1="wheel" joint2="lift" polycoef="0.1 2.5 0 0 0"/>
    <joint name="held" joint1="pinned" polycoef="0.2 0 0 0 0"/>
    <joint name="curved" joint1="wheel" joint2="lift" polycoef="0 1 1 0 0"/>
    <weld name="off" body1="post" body2="crank" active="false"/>
  </equality>
</mujoco>
""".replace('<body name="tool" pos="0 0 0.2"><freejoint_ /></body>', "")
