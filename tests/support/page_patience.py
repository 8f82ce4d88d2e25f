"""How tests read a page: never once and at once, for what a page shows comes with a later picture or answer.

``look`` reads when all drawing that was asked for is done: what a page does by itself.  ``shows``, ``says`` and
``expect`` let Playwright wait until what is expected is there: what comes after a pause or with an answer of a server.
"""

from __future__ import annotations

import re

from player_pages import PATIENCE

# All drawing is done; a page without a player draws with the next picture.
DRAWN = """await (globalThis.kinodePlayer?.drawn()
  ?? new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));"""
LOOK = "async (asked) => {{ {drawn} return ({script})(asked); }}"
SAME = """([asked, expected]) => {{
  const sort = (_, each) => each?.constructor === Object ? Object.fromEntries(Object.entries(each).sort()) : each;
  return JSON.stringify(({script})(asked) ?? null, sort) === JSON.stringify(expected, sort);
}}"""


def settle(page):
    """Wait until all that was asked for is drawn."""
    page.evaluate(f"async () => {{ {DRAWN} }}")


def look(page, script, asked=None):
    """What a function of the page gives, when all that was asked for is drawn."""
    return page.evaluate(LOOK.format(drawn=DRAWN, script=script), asked)


def expect(place):
    """What Playwright expects of a locator, with the patience of these tests."""
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE)
    return expect(place)


def shows(page, script, expected, asked=None, name=""):
    """Wait until a function of the page gives what is expected."""
    from playwright.sync_api import TimeoutError

    try:
        page.wait_for_function(SAME.format(script=script), arg=[asked, expected])
    except TimeoutError:
        seen = page.evaluate(script, asked)
        raise AssertionError(f"{name or script} gives {seen!r}, not {expected!r}") from None


def says(place, *words):
    """Wait until a place of the page, a locator, is seen and has all these words; all of its text."""
    expect(place).to_be_visible()
    pattern = re.compile("".join(f"(?=.*{re.escape(each)})" for each in words), re.DOTALL)
    expect(place).to_contain_text(pattern, use_inner_text=True)
    return place.inner_text()
