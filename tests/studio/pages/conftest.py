"""The player in a real Chromium: few pages at a time for all workers; every console error fails the test."""

import pytest
from page_patience import settle
from page_pool import PagePool
from peers import cannot_try
from player_pages import ROOT, one_of, what_is_missing

from kinode.player.film import find_chromium

WIDE = {"width": 1280, "height": 800}
LARGE = {"width": 1440, "height": 1000}
MOST_PAGES = 2  # at a time: one takes half a gigabyte, and all of a core
FAILED = pytest.StashKey[bool]()
READY = "() => globalThis.kinodePlayer !== undefined"


@pytest.fixture(scope="session")
def browser():
    """Chromium; where there is none the test is skipped, or fails in CI."""
    missing = what_is_missing()
    if missing:
        cannot_try(missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def page_pool(browser):
    """Pages that tests hand on: a page that was used opens the next one in half the time."""
    return PagePool(browser)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Remember which tests did not pass: their pages are not used again."""
    outcome = yield
    if outcome.get_result().failed:
        item.stash[FAILED] = True


@pytest.fixture
def make_page(request, page_pool, shared_folder, pages):
    """Makes pages of a size and color scheme; few tests at a time have a browser."""
    used = []
    example = getattr(request.node, "callspec", None) and request.node.callspec.params.get("example")
    if example:
        pages.page(example)  # models are compiled while others use the browser

    def make(*, scheme="light", still=True, **size):
        used.append(page_pool.take(scheme, "reduce" if still else "no-preference", **WIDE | size))
        return used[-1].page

    with one_of([shared_folder / f"browser_{k}.lock" for k in range(MOST_PAGES)]):
        yield make
        complaints = [words for each in used for words in each.complaints]
        for each in used:
            page_pool.give_back(each, again=not complaints and FAILED not in request.node.stash)
    assert not complaints, complaints


@pytest.fixture
def page(make_page):
    """A page of 1280 x 800 in light colors that does not play by itself."""
    return make_page()


@pytest.fixture
def open_run(pages):
    """Opens the page of an example and waits until its player is drawn."""

    def open_example(page, example):
        page.goto(pages.page(example).as_uri())
        page.wait_for_function(READY)
        settle(page)
        return page

    return open_example


# -- the studio ------------------------------------------------------------------------------------
@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    """What belongs to no model is kept apart from what others have kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def large(make_page):
    """A page with room for palette, drawing, run and side."""
    return make_page(**LARGE)


@pytest.fixture
def axis(tmp_path):
    """A file of its own of the example with motor, gear and arm."""
    file = tmp_path / "axis.yaml"
    file.write_text((ROOT / "examples" / "motor_axis.yaml").read_text())
    return file
