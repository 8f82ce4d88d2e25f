"""Accessibility of a page as axe-core finds it."""

from page_patience import settle, shows
from player_pages import ROOT

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
FAULTS = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
  .filter(({ impact }) => impact === "serious" || impact === "critical")
  .map(({ id, nodes }) => [id, nodes.length, nodes[0].target.join(" ")])"""


def check_access(page, name):
    """No serious fault of accessibility in what is seen now, or in a moment: what fades is hard to read meanwhile."""
    if AXE.exists():
        page.evaluate(AXE.read_text())
        settle(page)
        shows(page, FAULTS, [], name=name)
