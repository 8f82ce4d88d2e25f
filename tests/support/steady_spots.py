"""Places on a page that stand still: what is drawn anew, moved or covered is waited for, then pressed by the mouse."""

from __future__ import annotations

from contextlib import contextmanager, suppress

# The page looks at every picture that it draws; a place counts where it was the same in four of them.
STEADY = """(asked) => new Promise((found, lost) => {
  const find = %s;
  let before = "", same = 0, left = 1500;
  const look = () => {
    const at = find(asked), now = JSON.stringify(at);
    same = Array.isArray(at) && now === before ? same + 1 : 0;
    before = now;
    if (same >= 3) found(at);
    else if (--left < 0) lost(new Error(`no place that stands still for ${JSON.stringify(asked)}: ${now}`));
    else requestAnimationFrame(look);
  };
  look();
})"""
# The middle of what is drawn; ``within``: what has to be hit there, the thing or what holds it. Else why it is not.
MIDDLE = """([selector, within]) => {
  const node = document.querySelector(selector);
  if (node === null) return "it is not drawn";
  const { x, y, width, height } = node.getBoundingClientRect();
  if (width === 0 && height === 0) return "it has no size";
  const at = [x + width / 2, y + height / 2];
  const hit = document.elementFromPoint(...at);
  const isHit = within === null || (hit !== null && hit.closest(within) === node.closest(within));
  return isHit ? at : `${hit?.outerHTML.slice(0, 200)} lies above it`;
}"""


def find_steady(page, find, asked):
    """What a function of the page gives, ``[x, y]``, as soon as it stands still."""
    return tuple(page.evaluate(STEADY % find, asked))


def find_middle(page, selector, within=None):
    """The middle of an element on the screen; ``within`` is a selector of what the pointer must meet there."""
    return find_steady(page, MIDDLE, [selector, within])


def drag(page, start, end, steps=4):
    """Press at a place and move to another; the button stays down."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move((start[0] + end[0]) / 2, (start[1] + end[1]) / 2, steps=steps)
    page.mouse.move(*end, steps=steps)


@contextmanager
def leaving(page, url):
    """Whatever happens, no page is left at a server that ends: it would complain, and bury the cause."""
    from playwright.sync_api import Error

    server = url.split("?")[0].rstrip("/")
    try:
        yield
    finally:
        for context in page.context.browser.contexts:
            for each in context.pages:
                if each.url.startswith(server):
                    with suppress(Error):
                        each.goto("about:blank")
