"""A process that compiles beside another one: reads LLVM text, keeps the code in the cache, and sends it back.

It outlives its caller by what it was given to do, so that the next process finds the code.  A request is a line of JSON
(level, whether passes run first, length of the text, the entry of the cache, the line before the code there) and the
text; the answer is the length of the code in eight bytes, zero if it could not be made, and the code.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from contextlib import suppress
from typing import Any, BinaryIO

from kinode.jit import code_cache

PATIENCE = 10  # of the system with other processes: those have the processor first


def read_requests(stream: BinaryIO, requests: queue.SimpleQueue[tuple[dict[str, Any], bytes] | None]) -> None:
    """Take requests as they come, so that a caller who ends need not wait; None stands for the end."""
    while line := stream.readline():
        asked = json.loads(line)
        text = stream.read(asked["length"])
        if len(text) == asked["length"]:
            requests.put((asked, text))
    requests.put(None)


def serve(stream: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    requests: queue.SimpleQueue[tuple[dict[str, Any], bytes] | None] = queue.SimpleQueue()
    threading.Thread(target=read_requests, args=(stream, requests), daemon=True).start()
    with suppress(AttributeError, OSError):
        os.nice(PATIENCE)  # on Linux of this thread: the one that takes requests lets no caller wait who ends
    while (request := requests.get()) is not None:
        asked, text = request
        code = b""
        from kinode.jit.llvm_code import compile_text  # LLVM is imported while requests come in

        with suppress(Exception):  # the caller has code that works
            code = compile_text(text.decode(), asked["level"], asked["optimize"])
            if asked["entry"] is not None:
                head = "" if asked["head"] is None else asked["head"] + "\n"
                code_cache.save(asked["entry"], head.encode() + code)
        with suppress(OSError):  # the caller has ended; the cache has the code
            answers.write(len(code).to_bytes(8, "little") + code)
            answers.flush()


def main() -> None:
    """Serve the process that started this one."""
    serve(sys.stdin.buffer, sys.stdout.buffer)
