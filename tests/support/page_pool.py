"""Pages of one browser that tests use one after the other, each as if it were new.

A page takes another size, color scheme and liking of motion when it is taken: a window costs Chromium a second.
"""

from __future__ import annotations

from player_pages import PATIENCE
from slow_pages import slow_down

MOST_KEPT = 2  # pages that wait for another test: one takes some hundred megabytes
FORGET = "() => { localStorage.clear(); sessionStorage.clear(); }"


class PooledPage:
    """A page, and what its console complained of since it was taken."""

    def __init__(self, browser, scheme, motion, size):
        self.context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion=motion)
        self.page = slow_down(self.context.new_page())
        self.complaints = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hear(self, message):
        if message.type == "error":
            self.complaints.append(message.text)

    def clean(self):
        """Leave nothing of a test: no storage, cookie, permission, other page, nor a pointer over something."""
        for other in self.context.pages:
            if other is not self.page:
                other.close()
        if self.page.url.startswith(("file:", "http:")):
            self.page.evaluate(FORGET)
        self.page.goto("about:blank")
        self.page.mouse.move(0, 0)
        self.context.clear_cookies()
        self.context.clear_permissions()
        self.complaints.clear()


class PagePool:
    """The pages that wait, newest last."""

    def __init__(self, browser):
        self.browser, self.waiting = browser, []

    def take(self, scheme, motion, width, height):
        """A page of a size, color scheme and liking of motion."""
        size = {"width": width, "height": height}
        if self.waiting:
            found = self.waiting.pop()
            found.page.set_viewport_size(size)
            found.page.emulate_media(color_scheme=scheme, reduced_motion=motion)
        else:
            found = PooledPage(self.browser, scheme, motion, size)
        found.page.set_default_timeout(PATIENCE)
        return found

    def give_back(self, used, again):
        """Take a page back; one that may not be used again, or is one too many, is closed."""
        if not again:
            used.context.close()
            return
        used.clean()
        self.waiting.append(used)
        while len(self.waiting) > MOST_KEPT:
            self.waiting.pop(0).context.close()
