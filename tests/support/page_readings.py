"""What a page of the player shows at the cursor, read from its elements as numbers and words."""

from __future__ import annotations

import numpy as np
from page_patience import look

SEEK = """(t) => {
  kinodePlayer.clock.pause();
  kinodePlayer.clock.seek(t);
  return kinodePlayer.drawn();
}"""
SHOW = """(name) => {
  kinodePlayer.show(name);
  return kinodePlayer.drawn();
}"""
LEGEND = """() => [...document.querySelectorAll(".plots .plot-legend li")].map((item) =>
  [".name", ".value", ".unit"].map((part) => item.querySelector(part).textContent))"""
CURSORS = """() => [...document.querySelectorAll(".panel:not([hidden]) .plot-cursor")].map((line) =>
  [new DOMMatrix(line.style.transform).e, line.parentElement.clientWidth])"""
TIME_BAR = """() => {
  const bar = document.querySelector("[role=slider][aria-label=Time]");
  const thumb = new DOMMatrix(document.querySelector(".thumb").style.transform).e;
  return { now: document.querySelector(".now").textContent, value: bar.getAttribute("aria-valuenow"),
    share: thumb / bar.clientWidth, stage: kinodePlayer.stage.view?.drawing.poses.time ?? null };
}"""
JOINT_TABLE = """() => [...document.querySelectorAll(".joint-table tbody tr")].map((row) => [
  row.className.split(" ")[0], row.dataset.part,
  [...row.querySelectorAll("td")].slice(0, 4).map((cell) => cell.textContent)])"""
JOINT_UNITS = """() => [...document.querySelectorAll(".joint-table th[scope=rowgroup] .muted")]
  .map((each) => each.textContent)"""
VALUES = """() => [...document.querySelectorAll(".panel:not([hidden]) tbody tr")]
  .filter((row) => row.cells.length > 1)
  .map((row) => [row.cells[0].textContent, row.cells[1].textContent, row.cells[row.cells.length - 1].textContent])"""
STICKERS = "() => [...document.querySelectorAll('.sticker text')].map((each) => each.textContent)"
STRIPS = """() => [...document.querySelectorAll(".strip")].map((row) =>
  [row.querySelector(".gutter").textContent, row.querySelector(".word").textContent])"""
EQUATIONS = """() => [...document.querySelectorAll(".equation")].map((section) => {
  let side = 1;
  const terms = [];
  for (const each of section.querySelectorAll(".equation-line > *")) {
    if (each.matches(".equation-sign") && each.textContent === "=") side = -1;
    const value = each.querySelector(".equation-value");
    if (value !== null) terms.push([side, value.textContent]);
  }
  return terms;
})"""
FACTORS = {
    "deg": np.pi / 180, "rpm": np.pi / 30, "deg/s": np.pi / 180, "turns": 2 * np.pi, "mm": 1e-3, "kN": 1e3, "kN·m": 1e3,
    "kW": 1e3,
}  # fmt: skip


def number(text):
    """A number as the player writes it."""
    return float(text.replace("\u2212", "-").replace("\u2013", "nan").replace("\u221e", "inf"))


def si(text, unit):
    """A shown number in SI."""
    return number(text) * FACTORS.get(unit, 1.0)


def near(run, name, k):
    """The value of a quantity of one number at a stored time, and what it may differ by: five digits are shown."""
    values = np.asarray(run[name], dtype=float)
    span = float(np.abs(values).max())
    return float(values[k]), 1e-4 * span + 1e-9


def seek(page, t):
    """Sets the clock and waits until all views have followed."""
    page.evaluate(SEEK, float(t))


def show(page, panel):
    """Opens a panel and waits until it is drawn."""
    page.evaluate(SHOW, panel)


def pictured(page, run, shares=(0.21, 0.6, 0.9)):
    """Stored states of which the page has a picture, about at these shares of the run."""
    pictures = np.array(look(page, "() => [...kinodePlayer.main.t]"))
    gaps = np.abs(run.t[:, None] - pictures[None, :]).min(axis=1)
    both = np.flatnonzero(gaps < 1e-6 * run.t[-1])
    return [int(both[round(share * (len(both) - 1))]) for share in shares]
