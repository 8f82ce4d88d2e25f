"""One instance of an FMU: its numbers set and read, its steps taken, its log kept for messages.

Version 2.0 and 3.0 have the same face here.  Whatever goes wrong names the part, the variable or the function, and what
the FMU itself wrote to its log.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kinode.errors import LawError
from kinode.fmi.fmu_description import REALS, FmuEntry, import_fmpy

if TYPE_CHECKING:
    from kinode.fmi.fmu_file import FmuPackage

KEPT_MESSAGES = 5  # of the FMU's log
SERIOUS = 1  # status from which a message is kept: warnings
Entry = tuple[FmuEntry, float | str]


@contextlib.contextmanager
def _staying() -> Iterator[None]:
    """Come back to the working folder: FMPy goes to that of a library, and stays there if it cannot be loaded."""
    here = os.getcwd()
    try:
        yield
    except BaseException:
        os.chdir(here)
        raise


class FmuInstance:
    """An instance, from its creation on; ``owner`` is the name of the part."""

    def __init__(self, package: FmuPackage, owner: str, exchange: bool) -> None:
        self.file, self.place, self.description = package.name, package.folder.place, package.description
        self.owner, self.exchange, self.version = owner, exchange, package.description.version
        self.time = 0.0  # where it is, for the steps of a run
        self.messages: deque[str] = deque(maxlen=KEPT_MESSAGES)
        self.face: Any = None
        kind = package.description.model_exchange if exchange else package.description.co_simulation
        assert kind is not None
        self.kind = kind
        face = self._load()
        try:
            self._instantiate(face)
        except Exception as error:  # FMPy raises bare exceptions
            face.freeLibrary()
            raise self.fault("cannot be instantiated", error) from None
        self.face = face

    # -- life --------------------------------------------------------------------------------------
    def _load(self) -> Any:
        import_fmpy()
        if self.version == 2:
            from fmpy.fmi2 import FMU2Model, FMU2Slave

            cls = FMU2Model if self.exchange else FMU2Slave
        else:
            from fmpy.fmi3 import FMU3Model, FMU3Slave

            cls = FMU3Model if self.exchange else FMU3Slave
        arguments = {"guid": self.description.token, "modelIdentifier": self.kind.identifier}
        try:
            with _staying():
                return cls(**arguments, unzipDirectory=self.place, instanceName=self.owner)
        except Exception as error:
            text = str(error).replace(self.place, self.file)
            if "Cannot find shared library" in text:
                text = "it holds no library for this system"
            raise self.fault("cannot be loaded", LookupError(text)) from None

    def _instantiate(self, face: Any) -> None:
        if self.version == 2:
            from fmpy import calloc, fmi2, free
            from fmpy.logging import addLoggerProxy

            callbacks = fmi2.fmi2CallbackFunctions()
            callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(self._log_2)
            callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
            callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
            addLoggerProxy(ctypes.byref(callbacks))
            face.instantiate(callbacks=callbacks, loggingOn=True)
        else:
            face.instantiate(loggingOn=True, logMessage=self._log_3)

    def close(self) -> None:
        """Free the instance and its library."""
        face, self.face = self.face, None
        if face is not None:
            with contextlib.suppress(Exception):  # it ends whatever its last state was
                face.terminate()
            face.freeInstance()

    def reset(self) -> bool:
        """Set it back to where it was when it was made; False if it cannot be."""
        self.messages.clear()
        try:
            self.face.reset()
        except Exception:  # FMPy raises bare exceptions
            return False
        return True

    def _log_2(self, component: Any, name: bytes, status: int, category: bytes, message: bytes) -> None:
        self._log(status, message)

    def _log_3(self, environment: Any, status: int, category: bytes, message: bytes) -> None:
        self._log(status, message)

    def _log(self, status: int, message: bytes) -> None:
        if status >= SERIOUS and message:
            self.messages.append(message.decode("utf-8", errors="replace").strip())

    def fault(self, what: str, error: Exception | None = None) -> LawError:
        """An error about the FMU, with what it wrote to its log."""
        said = "; it says: " + " / ".join(self.messages) if self.messages else ""
        why = "" if error is None else f": {str(error).rstrip('.')}"
        return LawError(f"the FMU {self.file} {what}{why}{said}", component=self.owner)

    # -- numbers -----------------------------------------------------------------------------------
    def set(self, values: Sequence[Entry]) -> None:
        """Set variables; entries of an array that are not given stay as they are."""
        arrays: dict[str, list[Any]] = {}
        for entry, value in values:
            variable = entry.variable
            try:
                if variable.sizes:
                    if variable.name not in arrays:
                        arrays[variable.name] = self._read(entry)
                    arrays[variable.name][entry.index] = self._typed(entry, value)
                    self._write(entry, arrays[variable.name])
                else:
                    self._write(entry, [self._typed(entry, value)])
            except LawError:
                raise
            except Exception as error:
                raise self.fault(f"does not take {entry} = {value}", error) from None

    @property
    def answers_at_once(self) -> bool:
        """Whether outputs follow inputs of the same instant: those of derivatives do, those of steps need not."""
        return self.exchange

    def get(self, entries: Sequence[FmuEntry]) -> list[float]:
        """The values of variables."""
        values = []
        for entry in entries:
            try:
                values.append(float(self._read(entry)[entry.index]))
            except Exception as error:
                raise self.fault(f"does not give {entry}", error) from None
        return values

    def _typed(self, entry: FmuEntry, value: float | str) -> Any:
        kind = entry.variable.kind
        if kind == "String" or kind in REALS:
            return value
        whole = round(float(value))
        return bool(whole) if kind == "Boolean" else whole

    def _access(self, entry: FmuEntry) -> str:
        kind = entry.variable.kind
        if kind == "Enumeration":
            return "Integer" if self.version == 2 else "Int64"
        return kind

    def _read(self, entry: FmuEntry) -> list[Any]:
        variable = entry.variable
        read = getattr(self.face, f"get{self._access(entry)}")
        if self.version == 2:
            return list(read([variable.reference]))
        return list(read([variable.reference], nValues=variable.count))

    def _write(self, entry: FmuEntry, values: list[Any]) -> None:
        getattr(self.face, f"set{self._access(entry)}")([entry.variable.reference], values)

    # -- modes -------------------------------------------------------------------------------------
    def initialize(self, t: float, fixed: Sequence[Entry], inputs: Sequence[Entry]) -> None:
        """Begin at a time, with values of its parameters and inputs."""
        try:
            if self.version == 2:
                self.face.setupExperiment(startTime=t)
            self.set(fixed)
            self.face.enterInitializationMode(**({} if self.version == 2 else {"startTime": t}))
            self.set(inputs)
            self.face.exitInitializationMode()
        except LawError:
            raise
        except Exception as error:
            raise self.fault(f"cannot be initialized at t = {t:.9g} s", error) from None

    def set_inputs(self, values: Sequence[Entry]) -> None:
        """Give it the inputs of a tick, for the step that follows."""
        self.set(values)

    def step(self, t: float, h: float) -> None:
        """Take a step of co-simulation."""
        at = f"at t = {t:.9g} s"
        try:
            told = self.face.doStep(t, h)
        except Exception as error:
            if self._is_terminated():
                raise self.fault(f"asks for the end of the run {at}") from None
            raise self.fault(f"cannot take its step of {h:.9g} s {at}", error) from None
        if told is not None:
            _, ends, early, last = told
            if ends:
                raise self.fault(f"asks for the end of the run {at}")
            if early and last < t + h:
                raise self.fault(f"stops at t = {last:.9g} s within its step {at}")

    def _is_terminated(self) -> bool:
        """Whether a step of version 2.0 that failed is the FMU's wish to end the run."""
        if self.version != 2:
            return False
        from fmpy import fmi2

        answer = ctypes.c_int(0)
        try:
            self.face.fmi2GetBooleanStatus(self.face.component, fmi2.fmi2Terminated, ctypes.byref(answer))
        except Exception:  # it need not answer
            return False
        return answer.value != 0


def name_values(entries: Mapping[str, FmuEntry], values: Mapping[str, float]) -> list[Entry]:
    """Entries with their values, by the same names."""
    return [(entry, values[name]) for name, entry in entries.items()]
