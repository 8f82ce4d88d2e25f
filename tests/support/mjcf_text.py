"""MJCF models of tests: one with everything that is read, one with loops, one with what is not read."""

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

BEYOND = """
<mujoco model="all of it">
  <compiler angle="radian" autolimits="true"/>
  <option density="1.2" viscosity="0.01" wind="1 0 0" gravity="0.3 -0.2 -9.5" magnetic="0 0 1"/>
  <default>
    <geom density="900"/>
    <default class="poly"><joint stiffness="1 0.5 0.25" damping="0.1 0.2 0.3" springref="0.2"/></default>
  </default>
  <asset>
    <mesh name="tet" vertex="0 0 0 0.1 0 0 0 0.1 0 0 0 0.1"/>
    <hfield name="ground" nrow="2" ncol="2" size="1 1 0.1 0.1"/>
    <material name="red" rgba="1 0 0 1"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 0.1"/>
    <geom type="hfield" hfield="ground" pos="5 5 0"/>
    <light pos="0 0 3"/><camera name="cam" pos="0 -1 1"/>
    <site name="anchor" pos="0 0 2"/>
    <body name="target" mocap="true" pos="1 1 1"><geom type="sphere" size="0.02" contype="0" conaffinity="0"/></body>
    <body name="base" pos="0 0 1" gravcomp="0.5">
      <joint name="rail" type="slide" axis="1 0 0" ref="0.1" springref="0.3" stiffness="4" armature="0.2"
        frictionloss="0.4" range="-1 1"/>
      <joint name="spun" axis="0 0 1" springdamper="0.3 0.7"/>
      <geom name="b" type="box" size="0.1 0.2 0.1" fluidshape="ellipsoid" fluidcoef="0.5 0.25 1.5 1 1"/>
      <site name="s1" pos="0.1 0 0.1"/>
      <body name="arm" pos="0.2 0 0">
        <joint name="elbow" class="poly" axis="0 1 0" actuatorfrcrange="-2 2" />
        <geom name="cyl" type="cylinder" size="0.05 0.2"/>
        <site name="side" pos="0 0.2 0"/>
        <site name="s2" pos="0 0 0.3"/>
        <body name="wrist" pos="0 0 0.3" gravcomp="1.5">
          <joint name="ball" type="ball" range="0 1" stiffness="0.5" damping="0.1" armature="0.01"
            frictionloss="0.1"/>
          <geom type="mesh" mesh="tet"/>
          <site name="s3"/>
        </body>
      </body>
    </body>
    <body name="flyer" pos="2 0 1">
      <joint name="fly" type="free" damping="0.3" frictionloss="0.2" armature="0.1" stiffness="0.7"/>
      <geom name="fg" type="ellipsoid" size="0.1 0.2 0.3"/>
      <site name="f1" pos="0 0.1 0"/>
    </body>
    <body name="p" pos="0 3 1"><joint name="px" type="slide" axis="0 0 1"/><geom size="0.05"/>
      <body name="p2" pos="0.3 0 0"><joint name="py" axis="0 1 0"/><geom size="0.05" pos="0.2 0 0"/><site
        name="pp"/></body></body>
    <body name="w1" pos="0 4 1"><freejoint name="w1f"/><geom size="0.05"/></body>
    <body name="w2" pos="0 5 1"><freejoint name="w2f"/><geom type="box" size="0.05 0.06 0.07"/></body>
  </worldbody>
  <contact><pair geom1="cyl" geom2="fg"/><exclude body1="base" body2="arm"/></contact>
  <tendon>
    <fixed name="cord" stiffness="2" damping="0.3" range="-1 1" ><joint joint="rail" coef="0.5"/><joint joint="elbow"
      coef="-1.5"/></fixed>
    <spatial name="wrapped" stiffness="3" range="0.1 0.6"><site site="s1"/><geom geom="cyl" sidesite="side"/><site
      site="s3"/></spatial>
    <spatial name="straight" stiffness="3" damping="0.2" range="0.1 0.6"><site site="anchor"/><site
      site="f1"/></spatial>
    <spatial name="idle" ><site site="anchor"/><site site="s2"/></spatial>
    <spatial name="pulley" stiffness="1"><site site="s1"/><site site="s2"/><pulley divisor="2"/><site
      site="s2"/><site site="pp"/></spatial>
    <spatial name="dead" stiffness="3" springlength="0.1 0.5"><site site="anchor"/><site site="s3"/></spatial>
    <fixed name="c1"><joint joint="px" coef="1"/></fixed>
    <fixed name="c2"><joint joint="py" coef="2"/></fixed>
  </tendon>
  <equality>
    <weld name="glued" body1="w1" body2="w2"/>
    <joint name="curve" joint1="px" joint2="py" polycoef="0.1 1 0.5 0.2 0.1"/>
    <tendon name="tt" tendon1="c1" tendon2="c2" polycoef="0 1 0 0 0"/>
    <tendon name="tsp" tendon1="idle" polycoef="0 1 0 0 0"/>
  </equality>
  <actuator>
    <motor name="m" joint="elbow" gear="3"/>
    <position name="pos" joint="rail" kp="5" dampratio="1"/>
    <position name="tc" joint="rail" kp="5" timeconst="0.1" inheritrange="0.5"/>
    <velocity name="vel" joint="elbow" kv="2"/>
    <intvelocity name="iv" joint="elbow" kp="2" actrange="-1 1"/>
    <damper name="damp" joint="elbow" kv="2" ctrlrange="0 1"/>
    <cylinder name="cylact" joint="rail" timeconst="0.2" area="2" bias="1 2 3"/>
    <muscle name="mus" tendon="straight" lengthrange="0.1 1"/>
    <muscle name="mus2" joint="elbow" lengthrange="-1 1"/>
    <adhesion name="stick" body="arm" ctrlrange="0 1" gain="2"/>
    <general name="userbias" joint="elbow" biastype="user" gaintype="user" dyntype="user" actdim="1"/>
    <general name="freegear" joint="fly" gear="1 2 3 4 5 6"/>
    <general name="ballgear" joint="ball" gear="1 2 3 0 0 0"/>
    <general name="ballparent" jointinparent="ball" gear="1 2 3 0 0 0"/>
    <general name="freeparent" jointinparent="fly" gear="1 2 3 4 5 6"/>
    <general name="sitepush" site="f1" gear="1 2 3 4 5 6"/>
    <general name="siteref" site="f1" refsite="anchor" gear="1 0 0 0 0 0"/>
    <general name="tens" tendon="cord" gear="2" gainprm="3" biastype="affine" biasprm="1 2 3"/>
    <general name="crank" cranksite="s2" slidersite="s1" cranklength="0.5"/>
    <general name="early" joint="px" dyntype="filterexact" dynprm="0.1" actearly="true"/>
    <motor name="lateg" joint="px" group="3"/>
    <motor name="grav" joint="elbow" forcerange="-1 1" ctrlrange="-1 2"/>
  </actuator>
  <sensor><jointpos joint="elbow"/><accelerometer site="s1"/><user dim="2" name="us"/></sensor>
  <custom><numeric name="n" data="1 2"/><text name="t" data="x"/></custom>
  <keyframe><key name="k0" time="1.5" act="0.1 0.2 0.3 0 0 0 0" /></keyframe>
</mujoco>
"""
