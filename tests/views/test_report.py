"""The report: complete, self-contained, and safe to open whatever the names and notes say."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import kinode as kn
from kinode.ode.endings import Ending, EndKind
from kinode.report.derivation_section import describe_equations
from kinode.report.run_report import compose, report
from kinode.results.joint_loads import compute_loads, find_wrenches
from kinode.symbolic.equations import PAGE_BUDGET
from kinode.symbolic.normal_form import budget

SECTIONS = [
    "Mechanism",
    "Motion",
    "Joint loads",
    "Drives",
    "Who loads the joints",
    "Energy audit",
    "Equations",
    "Verification",
    "Run",
]


class Page(HTMLParser):
    """Tags that are closed properly, text, and everything that could reach outside."""

    PROGRAMS = {"module", "application/x-kinode-run"}  # the player, and the data of its run
    VOID = {"meta", "br", "path", "use", "rect", "circle", "line", "polygon"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text, self.links = [], [], [], []
        self.feed(text)
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append("player" if tag == "script" and dict(attrs).get("type") in self.PROGRAMS else tag)
        self.links += [
            value for key, value in attrs if key in ("href", "src", "xlink:href", "action") or key.startswith("on")
        ]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for key, value in attrs if key in ("href", "src", "xlink:href", "action")]

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open and self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def text(arm_run):
    return compose(arm_run)


def without_program(text):
    """The text of a report without the program of its player, which is kinode's own."""
    return re.sub(r'<script type="module">.*?</script>', "", text, flags=re.DOTALL)


def test_the_one_program_is_the_player(text):
    programs = re.findall(r'<script type="module">(.*?)</script>', text, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(programs[0].encode()).digest()).decode()
    assert len(programs) == 1 and f"script-src 'sha256-{digest}';" in text and "default-src 'none'" in text


def test_every_section_is_there(text):
    assert re.findall(r"<h2>(.*?)</h2>", text) == SECTIONS
    assert "Gravity" in text and "length of the upper link" in text and "9.81" in text


def test_nothing_is_fetched_and_nothing_runs(text):
    page = Page(text)
    assert "script" not in page.tags and "link" not in page.tags and "img" not in page.tags
    assert all(link.startswith("#") for link in page.links)
    own = without_program(text).replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert "http" not in own and "@import" not in own and "url(" not in own.replace("url(#", "")


def test_names_and_units_in_tables_and_plots(text):
    page = "".join(Page(text).text)
    for word in ("shoulder", "elbow", "upper", "coil", "time (s)", "force (N)", "angle (rad)", "rms", "dopri5"):
        assert word in page
    assert "All agree." in page
    assert "(Tx ∩ Ty) ∩ Rz" in page and "energy link" in page


def test_exceeded_limits_are_told(text):
    assert "below its lower limit" in text


def test_hostile_text_is_only_text(arm_run):
    system = arm_run.system.copy("<script>alert(1)</script>&\"'")
    system.notes.append("<img src=http://evil/x onerror=alert(2)>")
    system.change("L", note="</td><script>alert(3)</script>")
    run = kn.simulate(system, 0.05)
    text = compose(run, title="<b onmouseover=alert(4)>$\\frac$</b>")
    page = Page(text)
    assert "script" not in page.tags and "img" not in page.tags and "b" in page.tags
    assert page.links == [link for link in page.links if link.startswith("#")]
    assert "alert(3)" in "".join(page.text)


def test_file_name_cannot_leave_the_folder(arm_run, tmp_path):
    path = report(arm_run, tmp_path / "out", name="../../etc/x y", verify=False)
    assert path.parent == tmp_path / "out" and path.exists() and path.suffix == ".html"


def test_run_report_and_default_name(arm_run, tmp_path):
    assert arm_run.report(tmp_path) == tmp_path / "arm.html"


def test_verify_can_be_left_out(arm_run):
    assert "Verification" not in compose(arm_run, verify=False)


def test_plots_of_loads_are_capped_and_it_says_so(crane_run):
    text = compose(crane_run, verify=False, joints=2)
    assert "2 more are in the table only" in text


def test_a_failed_run_is_marked(arm_run):
    run = kn.simulate(arm_run.system, 0.1)
    run.ending = Ending(EndKind.STEP_TOO_SMALL, 0.1, "the step became <too> small")
    text = compose(run, verify=False)
    assert "did not reach its end" in text and "&lt;too&gt;" in text


def test_a_mechanism_that_cannot_move():
    system = kn.System("post")
    system.fixed("foot", system.world, system.body("post", mass=1.0, com=(0, 0, 1)))
    text = compose(kn.simulate(system, 1.0))
    assert "Nothing moves" in text and "9.81" in text


def test_the_same_run_gives_the_same_report(arm_run):
    assert compose(arm_run, verify=False) == compose(arm_run, verify=False)


def test_a_folder_that_is_a_file_is_told(arm_run, tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(kn.Error, match="taken: the report cannot be written"):
        arm_run.report(tmp_path / "taken", verify=False)


def test_plots_of_ones_own_choice(arm_run):
    text = compose(
        arm_run, verify=False, plots={"Drive & spring": ["shoulder.effort", "coil.tension"]}, seen_from="upper"
    )
    assert re.findall(r"<h2>(.*?)</h2>", text)[:3] == ["Mechanism", "Selected quantities", "Motion"]
    assert "<h3>Drive &amp; spring</h3>" in text and "Seen from upper" in text
    assert "Drive &amp; spring over time: shoulder.effort" in text and "over time: coil.tension" in text
    with pytest.raises(kn.Error, match="torsion"):
        compose(arm_run, verify=False, plots={"none": ["coil.torsion"]})


def test_equations_are_typeset_without_help(arm_run):
    """MathML of small models: well-formed, accents for rates; nothing for what would be long."""
    from xml.etree import ElementTree

    from kinode.report.derivation_section import describe_equations

    shown = describe_equations(arm_run.system)
    page = ElementTree.fromstring(f"<body>{shown}</body>")
    assert page.find(".//math//mover") is not None
    words = "".join(page.find(".//math").itertext())
    assert "elbow" in words and "sin" in words
    chain = kn.System("chain")
    last = chain.world
    for k in range(6):
        body = chain.body(f"b{k}", mass=1, com=(0.1, 0, 0), inertia=(1, 1, 1))
        chain.revolute(f"j{k}", last, body, axis="xyz"[k % 3])
        last = body.at(0.3, 0, 0)
    long = describe_equations(chain)
    assert "kinode equations" in long and "<math" not in long


def test_of_loops_the_freedoms_that_are_left_and_the_constraints():
    system = kn.System("crane", gravity=(0, -9.81, 0))
    boom = system.body("boom", mass=30, com=(1, 0, 0), inertia={"zz": 10})
    system.revolute("hinge", system.world, boom, guess=0.2)
    system.constraint("ram", "distance", a=system.world.at(0, -0.8, 0), b=boom.at(1, 0, 0), distance="1.3 + 0.1*t")
    found = compose(kn.simulate(system, 0.1, samples=3), verify=False)
    assert "1 joint, 1 constraint, 0 freedoms" in found
    assert re.search(r"ram.*distance.*1\.3 \+ 0\.1\*t", found, re.S)


def test_loads_that_are_not_unique_are_told():
    run = kn.simulate(kn.load("examples/four_bar.yaml"), 0.05, samples=3)
    assert "Not unique in every component: left, pin, right, top." in compose(run, verify=False)


def test_rounding_in_the_table_of_loads_is_nothing_and_the_table_is_dense():
    """A hinge about z in the plane: no axial force, no moment, whatever rounding a tilted axis leaves."""
    system = kn.System("tilted", gravity=(0, -9.81, 0))
    bar = system.body("bar", mass=3, com=(0.7, 0, 0), inertia={"zz": 0.1})
    system.revolute("hinge", system.world, bar, q=0.3)
    run = kn.simulate(system, 0.1, samples=3)
    (wrench,) = find_wrenches(run).values()
    noise = 1e-10 * abs(wrench.force).max() * np.ones_like(wrench.force)
    rough = replace(wrench, force=wrench.force + noise * [0, 0, 1], moment=noise)
    (loads,) = compute_loads(run, {"hinge": rough})
    assert (loads.axial, loads.moment.peak, loads.moment.rms) == (0.0, 0.0, 0.0)
    assert loads.radial == pytest.approx(loads.force.peak, rel=1e-12) and loads.force.peak > 1.0
    (larger,) = compute_loads(run, {"hinge": replace(wrench, moment=100.0 * noise)})
    assert larger.moment.peak > 0.0
    assert 'class="wide dense"' in compose(run, verify=False)


def test_equations_that_would_be_long_are_said_to_be():
    """A ball joint has a state of quaternions: its equations are short with names, and long without."""
    system = kn.load("examples/spinning_top.yaml")
    assert kn.equations(system).shape == "named"
    section = describe_equations(system)
    assert "kn.equations gives them with names" in section
    assert "<math" not in section


def test_equations_can_be_left_out(arm_run):
    text = compose(arm_run, verify=False, equations=False)
    assert "<h2>Equations</h2>" not in text and "Balances about" not in text


def test_a_page_does_not_wait_for_its_equations():
    """A plane body on a damper: its equations are long, which the page says after few operations."""
    system = kn.System("damper")
    tub = system.body("tub", mass=35, inertia={"zz": 1.5})
    system.planar("hang", system.world, tub, axis="z")
    system.spring("d", system.world.at(-0.5, -0.6, 0), tub.at(-0.25, -0.25, 0), stiffness=0, damping=150)
    with budget(10**7) as limit:
        section = describe_equations(system)
    assert "kinode equations" in section and "<math" not in section
    assert 0 < limit.spent <= PAGE_BUDGET
