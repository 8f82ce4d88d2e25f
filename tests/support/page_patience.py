"""How tests read a page: never once and at once, for what a page shows comes with a later picture or answer.

``look`` reads when all drawing that was asked for is done: what a page does by itself.  ``shows``, ``says`` and
``soon`` read until what is expected is there: what comes after a pause of the page or with an answer of its server.
"""

from __future__ import annotations

import time

from player_pages import PATIENCE

# All drawing is done; a page without a player draws with the next picture.
DRAWN = """await (globalThis.kinodePlayer?.drawn()
  ?? new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));"""
LOOK = "async (asked) => {{ {drawn} return ({script})(asked); }}"
PAUSE = 20  # ms between two looks


def settle(page):
    """Wait until all that was asked for is drawn."""
    page.evaluate(f"async () => {{ {DRAWN} }}")


def look(page, script, asked=None):
    """What a function of the page gives, when all that was asked for is drawn."""
    return page.evaluate(LOOK.format(drawn=DRAWN, script=script), asked)


def soon(page, check, *given):
    """What a check gives as soon as it finds no fault; its last fault where patience ends."""
    end = time.monotonic() + PATIENCE / 1000
    while True:
        try:
            return check(*given)
        except AssertionError:
            if time.monotonic() > end:
                raise
        page.wait_for_timeout(PAUSE)


def shows(page, script, expected, asked=None, name=""):
    """Wait until a function of the page gives what is expected."""

    def check():
        seen = page.evaluate(script, asked)
        assert seen == expected, f"{name or script} gives {seen!r}, not {expected!r}"

    soon(page, check)


def says(place, *words):
    """Wait until a place of the page, a locator, is seen and has all these words; all of its text."""

    def check():
        seen = place.inner_text()
        lacking = [each for each in words if each not in seen]
        assert not lacking, f"{place} says {seen!r}, without {lacking}"
        return seen

    place.wait_for()
    return soon(place.page, check)
