"""Machine code in memory and in the cache: object code, the symbols that it needs, and kernels with their routines.

What makes code is imported only where the cache does not have it.  The symbols that code needs are those of the C
library and those that ``provide`` registers.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache as remember
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from kinode.algebra.scalars import LIBRARY
from kinode.jit import code_cache, llvm_code
from kinode.jit.loop.memory import Struct
from kinode.jit.tiers.pending_code import once
from kinode.jit.tiers.waiting_words import waiting_words

ARGUMENTS = ("t", "q", "u", "z", "p", "inputs", "x", "work", "out")
"""The arguments of a kernel."""
CALLED = (*LIBRARY, "floor", "fma")
"""Functions of the C library that kernels call."""
RUNTIME = ("memcpy", "memmove", "memset", "__chkstk")
"""What the code generator calls by itself; the last one on Windows, in functions with more than a page of variables."""
_PROVIDED: dict[str, int] = {}  # symbols and their addresses


class RoutineNames(NamedTuple):
    """The names of the shared routines for one number of lanes."""

    sincos: str
    exp: str
    interval: str
    fetch: str
    batch: str


def names(lanes: int) -> RoutineNames:
    """The names of the shared routines for a number of lanes."""
    return RoutineNames(*(f"kinode_{routine}_{lanes}" for routine in RoutineNames._fields))


def routine_symbol(name: str) -> str:
    """The symbol of a function of the loop language, by its module and name."""
    return f"kinode_{name.rpartition(':')[2]}"


def global_name(name: str) -> str:
    """The name of a global variable for named data; of letters and digits, whatever the name."""
    return f"data_{name.encode().hex()}"


class LoadedCode(Protocol):
    """Code in memory; it lives as long as this object does, or to the end of a process that ends."""

    def get_function_address(self, name: str) -> int:
        """Where a function is."""
        ...

    def get_global_value_address(self, name: str) -> int:
        """Where a variable is."""
        ...


def provide(name: str, address: int) -> None:
    """Register a symbol for code that is loaded later."""
    _PROVIDED[name] = address
    llvm_code.llvm().add_symbol(name, address)


def load_object(code: bytes) -> LoadedCode:
    """Load object code into memory, by MCJIT; what it calls must be in the C library or registered."""
    _provide_library()
    binding = llvm_code.llvm()
    with llvm_code.LLVM_LOCK:
        engine: Any = binding.create_mcjit_compiler(binding.parse_assembly(""), llvm_code.make_target(0))
        engine.add_object_file(binding.ObjectFileRef.from_data(code))
        engine.finalize_object()
    owner: LoadedCode = engine
    return owner


def find_entry(key: str | None) -> str | None:
    """The entry of the cache for a key, this package's source, the host and LLVM; None if nothing is cached."""
    return None if key is None else code_cache.digest(key, "\n".join(llvm_code.host()))


def is_kept(key: str) -> bool:
    """Whether there may be bytes in the cache for a key; whether they are whole is seen when they are read."""
    entry, place = find_entry(key), code_cache.directory()
    return entry is not None and place is not None and (place / entry).is_file()


def keep(
    key: str | None, make: Callable[[], bytes], words: str = "", saves: Callable[[], bool] = lambda: True
) -> bytes:
    """The bytes that are cached for a key, this package's source, the host and LLVM; else those of ``make()``.

    Without a key nothing is cached, nor what ``saves()`` refuses after it was made.  ``words`` say what is made, for a
    person who waits.
    """
    entry = find_entry(key)
    code = None if entry is None else code_cache.load(entry)
    if code is None:
        with waiting_words(words):
            code = make()
        if entry is not None and saves():
            code_cache.save(entry, code)
    return code


@remember
def _libraries() -> tuple[ctypes.CDLL, ...]:
    """Where the functions of the C library are: in Python's own process first."""
    if sys.platform == "win32":
        return (ctypes.CDLL("ucrtbase"), ctypes.CDLL("ntdll"))  # the latter has what RUNTIME names
    found = [ctypes.CDLL(None)]
    if not hasattr(found[0], "atan2"):
        from ctypes.util import find_library

        found.append(ctypes.CDLL(find_library("m")))
    return tuple(found)


@once
def _provide_library() -> None:
    """Register what code may call of the C library: the functions that Python's own process has."""
    for name in (*CALLED, *RUNTIME):
        if address := find_symbol(name):
            provide(name, address)


def find_symbol(name: str) -> int:
    """The address of a symbol; 0 if it is not known."""
    if name not in _PROVIDED:
        function = next((getattr(library, name) for library in _libraries() if hasattr(library, name)), None)
        if function is None:
            return 0
        _PROVIDED[name] = ctypes.cast(function, ctypes.c_void_p).value or 0
    return _PROVIDED[name]


@dataclass(frozen=True)
class Machine:
    """A kernel in memory: its address, that of its batch driver, and the sizes of its arguments in doubles.

    ``engine`` owns the code, which lives as long as the engine does.
    """

    name: str
    address: int
    batch_address: int
    lanes: int
    sizes: Mapping[str, int]
    engine: Any = field(repr=False, compare=False)
    reads_z: Sequence[int] | None = None
    """The entries of z that it reads; None for loop code, where they are not determined."""
    reads_p: Sequence[int] | None = None
    """The same of p."""

    @cached_property
    def idle(self) -> list[Any]:
        """Memory of calls from Python that no thread uses."""
        return []

    @property
    def work_size(self) -> int:
        """Doubles of ``work`` that a call of the kernel needs."""
        return self.sizes["work"] * self.lanes

    @cached_property
    def batch_work_size(self) -> int:
        """Doubles of ``work`` that a call of the batch driver needs."""
        from kinode.jit.shared_routines import batch_work

        return batch_work(self.sizes, self.lanes)


@once
def provide_shared(routine: str, lanes: int) -> LoadedCode:
    """Register a shared routine for a number of lanes by name, and return what owns its code."""
    name = getattr(names(lanes), routine)

    def make() -> bytes:
        from kinode.jit.shared_routines import shared

        return llvm_code.compile_text(shared(routine, lanes, llvm_code.host().fma))

    engine = load_object(keep(name, make))
    provide(name, engine.get_function_address(name))
    return engine


class CompiledFunction:
    """The machine code at an address as a function of a record; it releases Python's lock."""

    __slots__ = ("_call", "address")

    def __init__(self, address: int) -> None:
        self.lead_to(address)

    def lead_to(self, address: int) -> None:
        """Use the code at this address from the next call on."""
        self.address = address
        self._call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)

    def __call__(self, record: Struct) -> int:
        code: int = self._call(ctypes.addressof(record))
        return code


Source = str | Callable[..., int | None]
"""A function of the loop language; or its module and name, with a colon, where it is imported for new code only."""
_COMPILED: dict[tuple[str, ...], tuple[CompiledFunction, ...]] = {}
_COMPILING = threading.RLock()
_ENGINES: list[LoadedCode] = []  # keeps the code of functions in memory, for good


def name_of(source: Source) -> str:
    """Module and name of a function of the loop language."""
    return source if isinstance(source, str) else f"{source.__module__}:{source.__name__}"


def compiled(source: Source, **options: Any) -> CompiledFunction:
    """The machine code of a function of the loop language; the options are those of ``compiled_together``."""
    return compiled_together((source,), **options)[0]


def compiled_together(
    sources: Sequence[Source], *, words: str = "", tiered: bool = False, folder: str = "", inlined: int | None = None
) -> tuple[CompiledFunction, ...]:
    """The machine code of functions of the loop language, from the cache or compiled in a tenth of a second.

    Parameters
    ----------
    sources : sequence
        Functions of which several may call the same, known by their modules and names; nothing in them is rounded in
        two ways.
    words : str
        What they are, for a person who waits.
    tiered : bool
        Whether new code is of low effort at first, made in a third of the time, and exchanged later (``jit/tiers``).
    folder : str
        Where their sources are, if these are no part of the key of any code: those of packages behind ``dynamics``.
    inlined : int, optional
        The number of instructions up to which a function is compiled into its callers.
    """
    names = tuple(map(name_of, sources))
    with _COMPILING:
        if names not in _COMPILED:
            _COMPILED[names] = _load_functions(sources, key_of(names, folder), words, tiered, inlined)
        return _COMPILED[names]


def key_of(names: Sequence[str], folder: str = "") -> str:
    """The key of functions in the cache."""
    return " ".join(["loops", *names, code_cache.source_digest(folder) if folder else ""])


def _load_functions(
    sources: Sequence[Source], key: str, words: str, tiered: bool, inlined: int | None
) -> tuple[CompiledFunction, ...]:
    texts, entry, symbols = list[str](), find_entry(key), [routine_symbol(name_of(source)) for source in sources]

    def make() -> bytes:
        from kinode.jit.loop.translator import translate_together
        from kinode.jit.tiers.better_code import is_wanted

        functions = map(find_function, sources)
        text = translate_together(dict(zip(symbols, functions, strict=True)), *(() if inlined is None else (inlined,)))
        if not tiered or not is_wanted(entry):
            return llvm_code.compile_text(text, optimize=True)
        texts.append(text)
        return llvm_code.compile_text(text, 0, optimize=True)

    def place(code: bytes) -> list[int]:
        _ENGINES.append(load_object(code))
        return [_ENGINES[-1].get_function_address(symbol) for symbol in symbols]

    found = tuple(map(CompiledFunction, place(keep(key, make, words, saves=lambda: not texts))))
    if texts and entry is not None:
        from kinode.jit.tiers.better_code import Wanted, improve

        def use(code: bytes) -> None:
            for function, address in zip(found, place(code), strict=True):
                function.lead_to(address)

        improve(Wanted(entry, b"", texts[0], 2, optimize=True), use)
    return found


def find_function(source: Source) -> Callable[..., Any]:
    """A function of the loop language itself, which Python can run too."""
    from importlib import import_module

    module, _, name = name_of(source).partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name) if isinstance(source, str) else source
    return function


def load_kernel(
    about: Mapping[str, Any], code: bytes, lanes: int, data: Mapping[str, Sequence[float]] | None
) -> Machine:
    """The kernel that ``about`` describes, in memory; ``data`` are the numbers of exchangeable tables."""
    name = about["name"]
    shared = [provide_shared(routine, count) for routine, count in about["shared"]]
    if about["routine"] is not None:
        provide(routine_symbol(about["routine"]), compiled(about["routine"]).address)
    engine = load_object(code)
    used = {} if data is None else {entry: data[entry] for entry in about["data"]}
    _fill_in(engine, used)
    address, batch_address = engine.get_function_address(name), engine.get_function_address(f"{name}_batch")
    reads = about["reads_z"], about["reads_p"]
    return Machine(name, address, batch_address, lanes, about["sizes"], (engine, shared, used), *reads)


def _fill_in(engine: LoadedCode, data: Mapping[str, Sequence[float]]) -> None:
    """Write the numbers of exchangeable tables into the memory of an engine."""
    for name, numbers in data.items():
        array = (ctypes.c_double * len(numbers))(*numbers)
        ctypes.memmove(engine.get_global_value_address(global_name(name)), array, ctypes.sizeof(array))
