"""A team of threads that share the rows of a batch, and are quick to start and to finish.

A batch takes a fraction of a millisecond, and waking a sleeping thread a good part of that.  Members
therefore look out for the next batch for a short while in machine code, without the interpreter, before
they go to sleep.  Rows are taken in pieces by whoever is free, the caller included, so that nobody waits
for a member that other programs keep from running.  Why no library: a pool of futures costs 50 us to
start and as much to be told of the end.

The board, of 64-bit words: TICKET is the number of the open batch, or -1; ACTIVE counts the members at
work on it; NEXT and FINISHED count its pieces; the rest are the batch driver's arguments.  The caller
closes the board and waits until nobody is active before it writes a new batch on it.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
from functools import cache as remember

import numpy as np

from kinode.jit.compiler import compile_text, keep, load_object

PATIENCE = 1000  # looks for a member's last piece before the caller gives way, lest it keep that member from running
LOOKS = 10_000  # looks at the board before a member goes to sleep: some 100 us

TICKET, ACTIVE, NEXT, FINISHED, PIECES, DRIVER, FIRST, LAST, SIZE, BASES, STRIDES = range(11)
WORDS = 16

_TEXT = """
define internal void @share(ptr %board, ptr %scratch) nounwind {{
  {arguments}
  %next = getelementptr i64, ptr %board, i64 {NEXT}
  %finished = getelementptr i64, ptr %board, i64 {FINISHED}
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

define i64 @kinode_attend(ptr %board, ptr %cell, i64 %known, i64 %looks) nounwind {{
  %active = getelementptr i64, ptr %board, i64 {ACTIVE}
  br label %look
look:
  %seen = phi i64 [ %known, %0 ], [ %seen, %again ], [ %ticket, %leave ]
  %left = phi i64 [ %looks, %0 ], [ %less, %again ], [ %looks, %leave ]
  %ticket = load atomic i64, ptr %board seq_cst, align 8
  %new = icmp ne i64 %ticket, %seen
  %open = icmp ne i64 %ticket, -1
  %wanted = and i1 %new, %open
  br i1 %wanted, label %enter, label %again
again:
  {pause}
  %less = sub i64 %left, 1
  %more = icmp sgt i64 %less, 0
  br i1 %more, label %look, label %end
enter:
  %before = atomicrmw add ptr %active, i64 1 seq_cst
  %now = load atomic i64, ptr %board seq_cst, align 8
  %still = icmp eq i64 %now, %ticket
  br i1 %still, label %work, label %leave
work:
  %scratch = load ptr, ptr %cell, align 8
  call void @share(ptr %board, ptr %scratch)
  br label %leave
leave:
  %after = atomicrmw sub ptr %active, i64 1 seq_cst
  br label %look
end:
  ret i64 %seen
}}

define void @kinode_close(ptr %board) nounwind {{
  %active = getelementptr i64, ptr %board, i64 {ACTIVE}
  store atomic i64 -1, ptr %board seq_cst, align 8
  br label %wait
wait:
  {pause}
  %count = load atomic i64, ptr %active seq_cst, align 8
  %busy = icmp ne i64 %count, 0
  br i1 %busy, label %wait, label %end
end:
  ret void
}}

define void @kinode_lead(ptr %board, ptr %scratch, i64 %ticket) nounwind {{
  %finished = getelementptr i64, ptr %board, i64 {FINISHED}
  %total = getelementptr i64, ptr %board, i64 {PIECES}
  %pieces = load i64, ptr %total, align 8
  store atomic i64 %ticket, ptr %board seq_cst, align 8
  call void @share(ptr %board, ptr %scratch)
  br label %wait
wait:
  %looks = phi i64 [ 0, %0 ], [ %more, %idle ], [ 0, %give ]
  {pause}
  %done = load atomic i64, ptr %finished seq_cst, align 8
  %left = icmp slt i64 %done, %pieces
  br i1 %left, label %idle, label %end
idle:
  %more = add i64 %looks, 1
  %long = icmp sgt i64 %more, {PATIENCE}
  br i1 %long, label %give, label %wait
give:
  {give_way}
  br label %wait
end:
  ret void
}}
"""


def _write() -> str:
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
        lines.append(f"%at.{name} = getelementptr i64, ptr %board, i64 {word}")
        lines.append(f"%{name} = load {kind}, ptr %at.{name}, align 8")
    pause = "call void @llvm.x86.sse2.pause()" if platform.machine().lower() in ("x86_64", "amd64") else ""
    give_way = "" if sys.platform == "win32" else "%y = call i32 @sched_yield()"
    words = {"PATIENCE": PATIENCE, "NEXT": NEXT, "FINISHED": FINISHED, "ACTIVE": ACTIVE, "PIECES": PIECES}
    text = _TEXT.format(arguments="\n  ".join(lines), pause=pause, give_way=give_way, **words)
    text += "declare void @llvm.x86.sse2.pause()\n" if pause else ""
    return text + "declare i32 @sched_yield()\n" if give_way else text


class _Member:
    """A thread that helps with every batch it notices; ``cell`` holds the address of its scratch."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.scratch = np.empty(1)
        self.cell = np.zeros(1, dtype=np.int64)
        self.asleep = False
        self.wake = threading.Event()
        threading.Thread(target=self._serve, name="kinode", daemon=True).start()

    def _serve(self) -> None:
        seen = 0
        while True:
            seen = self.team.attend(self.team.board.ctypes.data, self.cell.ctypes.data, seen, LOOKS)
            self.asleep = True
            self.wake.wait()
            self.asleep = False
            self.wake.clear()


class Team:
    """The caller's thread and the members; one batch at a time."""

    def __init__(self, members: int) -> None:
        # compiled here, by one thread: LLVM is not for several
        self.engine = load_object(keep("team", lambda: compile_text(_write())))
        word, pointer = ctypes.c_int64, ctypes.c_void_p
        find = self.engine.get_function_address
        self.attend = ctypes.CFUNCTYPE(word, pointer, pointer, word, word)(find("kinode_attend"))
        self.close = ctypes.CFUNCTYPE(None, pointer)(find("kinode_close"))
        self.lead = ctypes.CFUNCTYPE(None, pointer, pointer, word)(find("kinode_lead"))
        self.board = np.zeros(WORDS, dtype=np.int64)
        self.lock = threading.Lock()
        self.ticket = 0
        self.scratch_size = 0
        self.scratch = np.empty(1)
        self.members = [_Member(self) for _ in range(members)]

    def run(self, driver: int, rows: range, size: int, bases: int, strides: int, scratch: int) -> None:
        """Work on a range of rows in pieces of ``size``, each with ``scratch`` numbers; returns when all is done."""
        board = self.board.ctypes.data
        self.close(board)
        if scratch > self.scratch_size:
            self._provide(scratch)
        pieces = -(-len(rows) // size)
        self.board[NEXT : STRIDES + 1] = 0, 0, pieces, driver, rows.start, rows.stop, size, bases, strides
        self.ticket += 1
        for member in self.members:
            if member.asleep:
                member.wake.set()
        self.lead(board, self.scratch.ctypes.data, self.ticket)

    def _provide(self, size: int) -> None:
        """More scratch for everybody, while the board is closed: members read their cells when they enter."""
        self.scratch = np.empty(size)
        for member in self.members:
            member.scratch = np.empty(size)
            member.cell[0] = member.scratch.ctypes.data
        self.scratch_size = size


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@remember
def team() -> Team:
    """The team of this process."""
    return Team(max(1, processors() - 1))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=team.cache_clear)  # threads do not survive a fork
