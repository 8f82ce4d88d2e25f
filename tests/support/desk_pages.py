"""Pages that speak to the desk of a studio, for tests without a browser."""

import asyncio

from page_wire import play

DONE = 180.0  # s, for all that is under way, however busy the machine is


class DeskPage:
    """A page: asks, and keeps what is pushed meanwhile."""

    def __init__(self, wire):
        self.wire, self.seq, self.pushes = wire, 0, []

    async def ask(self, kind, **fields):
        self.seq += 1
        self.wire.ask(self.seq, kind, **fields)
        while True:
            message = await self.wire.answer()
            header = message[0] if isinstance(message, tuple) else message
            if header.get("seq") == self.seq:
                return header
            self.pushes.append(header)

    async def settled(self, desk):
        """All pushes, when all is checked and run."""
        assert await asyncio.to_thread(desk.checker.wait, DONE)
        await self.ask("can_connect", port={"component": "x", "port": "y"})
        return self.pushes

    def last(self, kind):
        return next((push for push in reversed(self.pushes) if push.get("kind") == kind), None)


def scene(desk, story):
    """Play a story, a coroutine of a page."""

    async def scenario(wire):
        await story(DeskPage(wire))

    play(scenario, desk.session)


def set_value(value, name="wire", field="resistance"):
    return {"do": "set", "name": name, "path": [field], "value": value}
