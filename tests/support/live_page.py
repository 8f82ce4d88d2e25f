"""A page of a live server without a browser: asks over a real socket, and keeps what is pushed."""

import itertools
import json
import time
from contextlib import ExitStack

from raw_requests import get_cookie
from websockets.sync.client import connect

from kinode.player.packet import read_packet

SECONDS = 180  # no wait lasts longer


class LivePage:
    """Requests and answers; ``pushed`` holds what came without a request: (header, arrays)."""

    def __init__(self, server):
        origin = f"http://127.0.0.1:{server.port}"
        self._open = ExitStack()
        self.socket = self._open.enter_context(
            connect(
                f"ws://127.0.0.1:{server.port}/socket", origin=origin, compression=None, max_size=None,
                additional_headers={"Cookie": get_cookie(server)},
            )
        )  # fmt: skip
        self.seq = itertools.count(1)
        self.pushed = []
        self.answers = {}

    def close(self):
        self._open.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, kind, **fields):
        seq = next(self.seq)
        self.socket.send(json.dumps({"seq": seq, "kind": kind, **fields}))
        return seq

    def receive(self, seconds=SECONDS):
        message = self.socket.recv(timeout=seconds)
        header, arrays = (json.loads(message), {}) if isinstance(message, str) else read_packet(message)
        if "seq" in header:
            self.answers[header["seq"]] = header, arrays
        else:
            self.pushed.append((header, arrays))
        return header, arrays

    def answer(self, seq):
        while seq not in self.answers:
            self.receive()
        return self.answers.pop(seq)

    def ask(self, kind, **fields):
        """Header and arrays of the answer."""
        return self.answer(self.send(kind, **fields))

    def wait_for(self, kind, fits=lambda header: True, seconds=SECONDS):
        """The first push of a kind that fits."""
        end = time.monotonic() + seconds
        seen = 0
        while True:
            for header, arrays in self.pushed[seen:]:
                if header["kind"] == kind and fits(header):
                    return header, arrays
            seen = len(self.pushed)
            self.receive(max(0.01, end - time.monotonic()))
