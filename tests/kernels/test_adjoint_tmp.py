import numpy as np, pytest
from mechanisms import net, four_bars, ring
from rolled_models import MODELS, prepared
from test_tangent_programs import EVERYTHING, compare
from kinode.kernels import tree_size
from kinode.kernels.kernel_options import DerivativeOptions, Kernel

@pytest.fixture(autouse=True)
def roll_everything(monkeypatch):
    for name, value in {"ROLL_FROM": 1, "ROLL_LOOPS_FROM": 1, "LINK_COST": 0, "SPEED_COST": 0}.items():
        monkeypatch.setattr(tree_size, name, value)

@pytest.mark.parametrize("of", ["u_dot","rate","energy","bias","effort"])
@pytest.mark.parametrize("model", [*MODELS, "net","four_bars"])
def test_it(model, of):
    make={**MODELS,"net":lambda: net(2,2),"four_bars":lambda: four_bars(3)}[model]
    topology, point = prepared(make())
    compare(topology, point, Kernel("gradient" if of!="effort" else "gradient_of_motion", DerivativeOptions((of,), EVERYTHING)))
NAMED={"carriage":("rod2.position","rod2.acceleration","j1.reaction.force","close.reaction.force","push.force","close.effort","tip.velocity","system.energy","ball.reaction.moment"),
"ring":("rod2.acceleration","close.reaction.force","j1.reaction.force"),"wheel":("rod.acceleration","track.reaction","pin.reaction.force")}
@pytest.mark.parametrize("model", [*NAMED])
def test_named(model):
    topology, point = prepared(MODELS[model]())
    for name in NAMED[model]:
        try: compare(topology, point, Kernel("gradient", DerivativeOptions((name,), EVERYTHING)))
        except Exception as e: print(name, type(e), str(e)[:300]); raise
    compare(topology, point, Kernel("gradient", DerivativeOptions(("u_dot",*NAMED[model]), EVERYTHING)))
