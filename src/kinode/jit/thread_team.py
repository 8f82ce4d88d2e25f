"""A thread pool that computes the rows of a batch, with little delay at the start and at the end.

A batch takes a fraction of a millisecond, and waking a sleeping thread takes a good part of that.  After a batch the
workers therefore poll for the next one for about 100 us, in machine code and without the interpreter, before they
sleep.  The rows are divided into pieces.  Every thread, the caller's included, takes the next free piece, so nobody
waits for a worker that the operating system has suspended.

Why our own: a pool of futures takes 50 us to start a batch and as long to report its end.

The threads share a control block of 64-bit words.  TICKET is the number of the open batch, or -1 if none is open.
ACTIVE counts the workers in the batch, at most WORKERS, NEXT the pieces taken, FINISHED the pieces completed.  The
other words are the arguments of the batch driver.  Before the caller writes a new batch, it closes the block and waits
until no worker is active.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
from functools import cache as remember

import numpy as np

from kinode.jit.llvm_code import compile_text
from kinode.jit.machine_code import keep, load_object

POLLS_BEFORE_YIELD = 1000  # of the caller at the end of a batch; then it yields its processor to the last worker
POLLS_BEFORE_SLEEP = 10_000  # of a worker without a batch: some 100 us

TICKET, ACTIVE, NEXT, FINISHED, PIECES, DRIVER, FIRST, LAST, SIZE, BASES, STRIDES, WORKERS = range(12)
CONTROL_WORDS = 16  # two cache lines; the first 12 words are used

_TEXT = """
define internal void @take_pieces(ptr %control, ptr %scratch) nounwind {{
  {arguments}
  %next = getelementptr i64, ptr %control, i64 {NEXT}
  %finished = getelementptr i64, ptr %control, i64 {FINISHED}
  br label %take
take:
  %piece = atomicrmw add ptr %next, i64 1 seq_cst
  %some = icmp slt i64 %piece, %pieces
  br i1 %some, label %do, label %end
do:
  %shift = mul i64 %piece, %size
  %from = add i64 %first, %shift
  %full = add i64 %from, %size
  %short = icmp sgt i64 %full, %last
  %to = select i1 %short, i64 %last, i64 %full
  call void %driver(i64 %from, i64 %to, ptr %bases, ptr %strides, ptr %scratch)
  %old = atomicrmw add ptr %finished, i64 1 seq_cst
  br label %take
end:
  ret void
}}

define i64 @kinode_poll(ptr %control, ptr %scratch_address, i64 %known, i64 %polls) nounwind {{
  %active = getelementptr i64, ptr %control, i64 {ACTIVE}
  %workers = getelementptr i64, ptr %control, i64 {WORKERS}
  br label %poll
poll:
  %seen = phi i64 [ %known, %0 ], [ %seen, %again ], [ %ticket, %leave ]
  %left = phi i64 [ %polls, %0 ], [ %less, %again ], [ %polls, %leave ]
  %ticket = load atomic i64, ptr %control seq_cst, align 8
  %new = icmp ne i64 %ticket, %seen
  %open = icmp ne i64 %ticket, -1
  %joins = and i1 %new, %open
  br i1 %joins, label %enter, label %again
again:
  {pause}
  %less = sub i64 %left, 1
  %more = icmp sgt i64 %less, 0
  br i1 %more, label %poll, label %end
enter:
  %before = atomicrmw add ptr %active, i64 1 seq_cst
  %now = load atomic i64, ptr %control seq_cst, align 8
  %still = icmp eq i64 %now, %ticket
  %most = load i64, ptr %workers, align 8
  %wanted = icmp slt i64 %before, %most
  %takes = and i1 %still, %wanted
  br i1 %takes, label %work, label %leave
work:
  %scratch = load ptr, ptr %scratch_address, align 8
  call void @take_pieces(ptr %control, ptr %scratch)
  br label %leave
leave:
  %after = atomicrmw sub ptr %active, i64 1 seq_cst
  br label %poll
end:
  ret i64 %seen
}}

define void @kinode_close(ptr %control) nounwind {{
  %active = getelementptr i64, ptr %control, i64 {ACTIVE}
  store atomic i64 -1, ptr %control seq_cst, align 8
  br label %wait
wait:
  {pause}
  %count = load atomic i64, ptr %active seq_cst, align 8
  %busy = icmp ne i64 %count, 0
  br i1 %busy, label %wait, label %end
end:
  ret void
}}

define void @kinode_open(ptr %control, i64 %ticket) nounwind {{
  store atomic i64 %ticket, ptr %control seq_cst, align 8
  ret void
}}

define void @kinode_run_pieces(ptr %control, ptr %scratch) nounwind {{
  %finished = getelementptr i64, ptr %control, i64 {FINISHED}
  %total = getelementptr i64, ptr %control, i64 {PIECES}
  %pieces = load i64, ptr %total, align 8
  call void @take_pieces(ptr %control, ptr %scratch)
  br label %wait
wait:
  %polls = phi i64 [ 0, %0 ], [ %more, %idle ], [ 0, %give ]
  {pause}
  %done = load atomic i64, ptr %finished seq_cst, align 8
  %left = icmp slt i64 %done, %pieces
  br i1 %left, label %idle, label %end
idle:
  %more = add i64 %polls, 1
  %long = icmp sgt i64 %more, {POLLS_BEFORE_YIELD}
  br i1 %long, label %give, label %wait
give:
  {yield_processor}
  br label %wait
end:
  ret void
}}
"""


def _write() -> str:
    """LLVM text of the functions that the threads run."""
    lines = []
    for name, word, kind in (
        ("pieces", PIECES, "i64"),
        ("driver", DRIVER, "ptr"),
        ("first", FIRST, "i64"),
        ("last", LAST, "i64"),
        ("size", SIZE, "i64"),
        ("bases", BASES, "ptr"),
        ("strides", STRIDES, "ptr"),
    ):
        lines.append(f"%at.{name} = getelementptr i64, ptr %control, i64 {word}")
        lines.append(f"%{name} = load {kind}, ptr %at.{name}, align 8")
    pause = "call void @llvm.x86.sse2.pause()" if platform.machine().lower() in ("x86_64", "amd64") else ""
    yield_processor = "" if sys.platform == "win32" else "%y = call i32 @sched_yield()"
    words = {"NEXT": NEXT, "FINISHED": FINISHED, "ACTIVE": ACTIVE, "PIECES": PIECES, "WORKERS": WORKERS}
    words["POLLS_BEFORE_YIELD"] = POLLS_BEFORE_YIELD
    text = _TEXT.format(arguments="\n  ".join(lines), pause=pause, yield_processor=yield_processor, **words)
    text += "declare void @llvm.x86.sse2.pause()\n" if pause else ""
    return text + "declare i32 @sched_yield()\n" if yield_processor else text


class _Worker:
    """A thread that joins every batch it notices; ``scratch_address`` tells machine code where its scratch is."""

    def __init__(self, pool: ThreadPool) -> None:
        self.pool = pool
        self.scratch = np.empty(1)
        self.scratch_address = np.zeros(1, dtype=np.int64)
        self.wake = threading.Event()
        threading.Thread(target=self._serve, name="kinode", daemon=True).start()

    def _serve(self) -> None:
        seen = 0
        while True:
            control, scratch_address = self.pool.control.ctypes.data, self.scratch_address.ctypes.data
            seen = self.pool.poll(control, scratch_address, seen, POLLS_BEFORE_SLEEP)
            self.wake.wait()
            self.wake.clear()


class ThreadPool:
    """The caller's thread and the workers; they compute one batch at a time."""

    def __init__(self, workers: int) -> None:
        # compiled here, by one thread: LLVM is not thread-safe
        self.engine = load_object(keep("thread pool", lambda: compile_text(_write())))
        word, pointer = ctypes.c_int64, ctypes.c_void_p
        find = self.engine.get_function_address
        self.poll = ctypes.CFUNCTYPE(word, pointer, pointer, word, word)(find("kinode_poll"))
        self.close = ctypes.CFUNCTYPE(None, pointer)(find("kinode_close"))
        self.open = ctypes.CFUNCTYPE(None, pointer, word)(find("kinode_open"))
        self.run_pieces = ctypes.CFUNCTYPE(None, pointer, pointer)(find("kinode_run_pieces"))
        self.control = np.zeros(CONTROL_WORDS, dtype=np.int64)
        self.lock = threading.Lock()
        self.ticket = 0
        self.scratch_size = 0
        self.scratch = np.empty(1)
        self.workers = [_Worker(self) for _ in range(workers)]

    def run(self, driver: int, rows: range, size: int, bases: int, strides: int, scratch: int, threads: int) -> None:
        """Compute the rows in pieces of ``size`` rows; returns when all are done.

        ``driver``, ``bases`` and ``strides`` are addresses.  ``scratch`` is the number of doubles that a thread needs.
        At most ``threads`` work, the caller's included.
        """
        control = self.control.ctypes.data
        self.close(control)
        if scratch > self.scratch_size:
            self._enlarge_scratch(scratch)
        pieces = -(-len(rows) // size)
        words = 0, 0, pieces, driver, rows.start, rows.stop, size, bases, strides, threads - 1
        self.control[NEXT : WORKERS + 1] = words
        self.ticket += 1
        # Opened before anybody is woken: a worker that clears its call then polls, and finds the batch.
        self.open(control, self.ticket)
        for worker in self.workers[: threads - 1]:
            if not worker.wake.is_set():  # set for those who poll too: they may be about to sleep
                worker.wake.set()
        self.run_pieces(control, self.scratch.ctypes.data)

    def _enlarge_scratch(self, size: int) -> None:
        """Give every thread more scratch; only while no batch is open, since a worker reads the address as it joins."""
        self.scratch = np.empty(size)
        for worker in self.workers:
            worker.scratch = np.empty(size)
            worker.scratch_address[0] = worker.scratch.ctypes.data
        self.scratch_size = size


def processors() -> int:
    """The number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows have no such function
        return os.cpu_count() or 1


@remember
def thread_pool() -> ThreadPool:
    """The thread pool of this process."""
    return ThreadPool(max(1, processors() - 1))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=thread_pool.cache_clear)  # threads do not survive a fork
