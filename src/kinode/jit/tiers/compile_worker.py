"""A process that compiles beside another one: reads LLVM text, keeps the code in the cache, and sends it back.

It outlives its caller by what it was given to do, so that the next process finds the code.  A request is a line of JSON
(level, whether passes run first, length of the content, the entry of the cache, the line before the code there) and the
content: text, or without a level the packed operations of a kernel, whose text is written here.  The answer is the
length of what the cache keeps in eight bytes, zero if it could not be made, and that.
"""

from __future__ import annotations

import json
import os
import queue
import threading
from contextlib import suppress
from typing import Any, BinaryIO

from kinode.jit import code_cache

PATIENCE = 10  # of the system with other processes: those have the processor first


def read_requests(stream: BinaryIO, requests: queue.SimpleQueue[tuple[dict[str, Any], bytes] | None]) -> None:
    """Take requests as they come, so that a caller who ends need not wait; None stands for the end."""
    while line := stream.readline():
        asked = json.loads(line)
        content = stream.read(asked["length"])
        if len(content) == asked["length"]:
            requests.put((asked, content))
    requests.put(None)


def serve(stream: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    requests: queue.SimpleQueue[tuple[dict[str, Any], bytes] | None] = queue.SimpleQueue()
    threading.Thread(target=read_requests, args=(stream, requests), daemon=True).start()
    with suppress(AttributeError, OSError):
        os.nice(PATIENCE)  # on Linux of this thread: the one that takes requests lets no caller wait who ends
    while (request := requests.get()) is not None:
        kept = b""
        with suppress(Exception):  # the caller has code that works
            kept = make_code(*request)
            if request[0]["entry"] is not None:
                code_cache.save(request[0]["entry"], kept)
        with suppress(OSError):  # the caller has ended; the cache has the code
            answers.write(len(kept).to_bytes(8, "little") + kept)
            answers.flush()
    with suppress(Exception):  # what new kernels of later processes run by, if none made it yet
        from kinode.jit.bytecode.bytecode_kernel import find_interpreter

        find_interpreter()


def make_code(asked: dict[str, Any], content: bytes) -> bytes:
    """What the cache keeps of a request."""
    if asked["level"] is None:
        from kinode.jit.compiler import compile_operations

        return compile_operations(content)
    from kinode.jit.llvm_code import compile_text  # LLVM is imported while requests come in

    head = b"" if asked["head"] is None else asked["head"].encode() + b"\n"
    return head + compile_text(content.decode(), asked["level"], asked["optimize"])


def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Input and output of this process for requests and answers alone; for all others they lead nowhere.

    On Windows a library that is loaded asks what the input is, and waits for an answer while a thread reads from it:
    importing NumPy would not end before the next request.
    """
    streams = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return streams


def main() -> None:
    """Serve the process that started this one."""
    serve(*take_streams())
