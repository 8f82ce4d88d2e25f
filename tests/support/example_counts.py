"""How many random examples a costly test takes: few in every run, which tries the same ones, and more at night."""

from hypothesis import settings

EVERY_RUN = 25  # default of the profile "fixed" is at most this; those of "nightly" and "explore" are larger


def is_fixed():
    """Whether this is a run that tries the same examples every time."""
    return settings.default.max_examples <= EVERY_RUN


def examples(every_run, nightly):
    """Settings with so many examples in every run, and so many in runs that seek new ones."""
    return settings(max_examples=every_run if is_fixed() else nightly)
