"""What the header of a model in C says: its functions with comments, and the indices of its numbers by name."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kinode.jit.c_text.c_numbers import identifier


@dataclass(frozen=True)
class NamedIndex:
    """One entry of an array: its name in the model, its unit, and what is to be said of it."""

    name: str
    unit: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""

    @property
    def words(self) -> str:
        """A comment; nothing in it ends a comment of C."""
        parts = [f"{self.name}{f' in {self.unit}' if self.unit else ''}"]
        parts += [f"{self.value:.9g}"] if self.value is not None else []
        bounds = [x if x is not None and math.isfinite(x) else None for x in (self.low, self.high)]
        if bounds != [None, None]:
            parts.append(" to ".join("any" if x is None else f"{x:g}" for x in bounds))
        parts += [self.note] if self.note else []
        return comment("; ".join(parts))


def comment(text: str) -> str:
    """A text within a comment of C, which it does not end; without letters beyond ASCII."""
    plain = text.encode("ascii", "replace").decode()
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("\n", " ").replace("\\", "/").replace("??", "? ?")


FUNCTIONS = """
/* -- Use: defaults, set parameters and inputs, init, then step or advance again and again. ------------------------

   A status of 0 means that all went well; {name}_status_text tells what another one means.
   All that changes is in the model: a copy of the structure is a copy of the simulation.
   Units are SI; angles are in rad. */

/* Lay out a model, with the parameters and inputs of the file it was exported from.  Comes first. */
void {name}_defaults({name}_model *m);
/* Relative tolerance of the integration; acts at the next {name}_init. */
void {name}_set_tolerance({name}_model *m, double rtol);
/* Begin at a time in s, with the parameters m->p and the inputs m->inputs: a consistent start.  Returns a status. */
int {name}_init({name}_model *m, double t0);
/* Integrate to a time in s, with all events on the way; parameters and inputs may be changed before each call. */
int {name}_advance({name}_model *m, double t_end);
/* The same for a length of time in s. */
int {name}_step({name}_model *m, double dt);
/* The present time in s. */
double {name}_time(const {name}_model *m);
/* The present state; the discrete states come last. */
double *{name}_state({name}_model *m);
/* Time derivatives of the continuous states at the present time and state. */
void {name}_rate({name}_model *m, double *rates);
/* The outputs at the present time and state. */
void {name}_outputs({name}_model *m, double *out);
/* Call this on a model that was copied to another place, before anything else. */
void {name}_bind({name}_model *m);
/* What a status means. */
const char *{name}_status_text(int status);

/* -- For a solver of your own: set the time and the continuous states, then ask. ---------------------------------- */

/* Set the time in s. */
void {name}_set_time({name}_model *m, double t);
/* Event functions: an event happens where one falls below zero. */
void {name}_indicators({name}_model *m, double *g);
/* After each accepted step: event functions that are clearly positive may trigger from now on. */
void {name}_arm({name}_model *m);
/* Make all changes of the present instant: resets, ticks of clocks, modes.  Returns a status. */
int {name}_update({name}_model *m);
/* The next time in s at which a clock ticks or a law jumps; infinite if there is none until a time. */
double {name}_next_time({name}_model *m, double until);
/* How far loops and quaternions are from closed: the largest change that {name}_project would make. */
double {name}_drift({name}_model *m);
/* Close loops and normalize quaternions. */
void {name}_project({name}_model *m);
"""
JACOBIAN = """/* Derivatives, row by row: rates of continuous states, then outputs; by these states, then inputs. */
void {name}_jacobian({name}_model *m, double *J);
"""


def declare_functions(name: str, with_jacobian: bool) -> str:
    """The functions of a model, with comments."""
    return (FUNCTIONS + (JACOBIAN if with_jacobian else "")).replace("{name}", name)


def enumerate_names(name: str, letter: str, words: str, entries: Sequence[NamedIndex]) -> str:
    """An enumeration of indices by name; nothing where there are none."""
    if not entries:
        return ""
    labels = unique_labels(f"{name}_{letter}".upper(), (entry.name for entry in entries))
    lines = [f"    {label}, /* {entry.words} */" for label, entry in zip(labels, entries, strict=True)]
    return "\n".join([f"/* {words} */", f"enum {name}_{words.partition(':')[0].lower()}_index {{", *lines, "};\n"])


def unique_labels(prefix: str, names: Iterable[str]) -> list[str]:
    """A label in C for each name, all different."""
    labels = list[str]()
    for name in names:
        label = first = f"{prefix}_{identifier(name).upper()}"
        k = 1
        while label in labels:
            k += 1
            label = f"{first}_{k}"
        labels.append(label)
    return labels
