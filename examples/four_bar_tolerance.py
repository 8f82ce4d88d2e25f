"""How far do the joint loads of a four-bar spread, and which length matters most?

A crank turns at constant speed and swings a rocker; each length has a tolerance.  Shows sensitivities of a run, the
standard deviation of joint loads to first order with the share of each length, and runs with drawn lengths beside it.
"""

import kinode as kn

system = kn.System("four_bar_tolerance", gravity=(0, -9.81, 0))
system.parameter("crank_length", "120 mm")
system.parameter("coupler_length", "350 mm")
system.parameter("rocker_length", "250 mm")
system.parameter("base_length", "400 mm")
system.parameter("n", "300 rpm")

crank = system.body("crank", mass=0.8, com=("crank_length/2", 0, 0), inertia={"zz": 1e-3})
coupler = system.body("coupler", mass=1.2, com=("coupler_length/2", 0, 0), inertia={"zz": 0.012})
rocker = system.body("rocker", mass=1.5, com=("rocker_length/2", 0, 0), inertia={"zz": 0.008})
system.revolute("main", system.world, crank, speed="n", q="60 deg")
system.revolute("pin", crank.at("crank_length", 0, 0), coupler, guess="-40 deg")
system.revolute("pivot", system.world.at("base_length", 0, 0), rocker, guess="95 deg", damping="0.2 N*m*s/rad")
system.revolute("knee", coupler.at("coupler_length", 0, 0), rocker.at("rocker_length", 0, 0))

limits = {"crank_length": "+-0.2 mm", "coupler_length": "+-0.5 mm", "rocker_length": "+-0.5 mm"}
limits |= {"base_length": "+-1 mm", "n": "+-1 rpm"}
run = kn.simulate(system, "0.4 s", samples=401, sensitivity=list(limits))
names = [f"{joint}.reaction.force" for joint in ("main", "pin", "knee", "pivot")]
loads = run.tolerance(limits, names, check=400)
print(loads)
loads.plot(file="four_bar_tolerance.png")
