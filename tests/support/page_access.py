"""Accessibility of a page as axe-core finds it."""

from page_patience import settle
from player_pages import ROOT

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
AT_REST = "() => document.getAnimations().every((each) => each.playState !== 'running')"
FAULTS = """async ([part, rules]) => (await axe.run(part ?? document, {
  resultTypes: ["violations"], ...(rules && { runOnly: { type: "rule", values: rules } }) })).violations
  .filter(({ impact }) => impact === "serious" || impact === "critical")
  .map(({ id, nodes }) => [id, nodes.length, nodes[0].target.join(" ")])"""


def check_access(page, name, part=None, rules=None):
    """No serious fault of accessibility in a part of what is seen, as soon as nothing fades: that is hard to read.

    By all rules, or by some of axe-core's names.
    """
    if AXE.exists():
        page.evaluate(AXE.read_text())
        settle(page)
        page.wait_for_function(AT_REST)
        assert page.evaluate(FAULTS, [part, rules]) == [], name
