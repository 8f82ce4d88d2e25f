"""All labels of the studio that tell a state, read at every picture: no two of them contradict each other."""

import json
import re

from page_patience import look
from player_pages import ROOT
from studio_hands import studio

PENDULUM = (ROOT / "examples" / "pendulum.yaml").read_text()
# Begins to note what the labels say, whenever that changes.
NOTE = """() => {
  globalThis.told = [];
  const words = (selector) => document.querySelector(selector)?.textContent ?? "";
  const older = () => getComputedStyle(document.querySelector(".run-pane") ?? document.body, "::after").content;
  const note = () => {
    const places = [".run-state", ".check-badge", ".verify-badge", ".verify-panel [role=status]", ".problems"];
    const seen = [...places.map(words), older(), words(".compare-verdict")].join(" | ");
    if (told.at(-1) !== seen) told.push(seen);
    requestAnimationFrame(note);
  };
  note();
}"""
NEVER = [
    ("✓ no errors|model is whole[.]", "comparing|not compared yet|compiles|checked|problems now|[0-9] error"),
    ("up to date", "compiles|being checked|problems now|last good run|text before"),
    ("problems now", "no errors|No problems|up to date|derivations agree"),
    ("derivations agree", "comparing|being checked|problems now"),
]


def check_told(page):
    """What was told until now; nothing of it contradicts itself."""
    told = look(page, "() => told")
    for words in told:
        for one, other in NEVER:
            assert not (re.search(one, words) and re.search(other, words)), words
    return told


def test_no_two_labels_of_the_page_contradict_each_other(page, tmp_path):
    file = tmp_path / "pendulum.yaml"
    file.write_text(PENDULUM)
    with studio(page, file, verify=True) as hands:
        page.evaluate(NOTE)
        page.wait_for_function("() => document.querySelector('.verify-badge')?.textContent.includes('agree')")
        broken = PENDULUM.replace("kind: revolute", "kind: revolut")
        page.evaluate("(text) => kinodeStudio.document.replaceText(text)", broken)
        hands.wait()
        page.evaluate("(text) => kinodeStudio.document.replaceText(text)", PENDULUM.replace("mass: ", "mass: 1"))
        hands.wait_for_run("pivot.q")
        told = check_told(page)
        for words in (
            "no errors so far | … comparing",
            "✓ no errors | ✓ derivations agree",
            "the model has problems now",
        ):
            assert any(words in each for each in told), json.dumps(told, indent=1, ensure_ascii=False)
