"""The warm-up: what a first run imports and loads is there afterwards."""

import subprocess
import sys

import kinode as kn
from kinode.tasks.simulate import warm_up

AFTER = """
import sys
import kinode as kn
from kinode.tasks.simulate import warm_up
system = kn.load("examples/double_pendulum.yaml")
{warm}
before = set(sys.modules)
run = kn.simulate(system, 0.1)
run.evaluate(["lower.position", "elbow.reaction.force"])
print(*sorted(name for name in set(sys.modules) - before if name.startswith("kinode.")))
"""


def imported(warm):
    script = AFTER.format(warm=warm)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_run_after_it_imports_nothing():
    assert "kinode.dynamics.reactions.joint_reactions" in imported("")
    assert imported("warm_up()") == []


def test_in_the_background():
    thread = warm_up(background=True)
    thread.join(60.0)
    assert not thread.is_alive()


def test_a_model_is_compiled():
    system = kn.load("examples/four_bar.yaml")
    dynamics = kn.compile(system, live=True)
    assert warm_up(dynamics) is None
    assert kn.simulate(dynamics, 0.1).status == "done"


def test_a_model_that_cannot_run_is_left_to_its_own_error():
    system = kn.System("open", gravity=(0, -9.81, 0))
    rod = system.body("rod", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    system.revolute("pin", system.world, rod)
    system.revolute("far", system.world.at(3, 0, 0), rod.at(1, 0, 0))
    warm_up(system)
