"""Layer 4: from formulations to machine code."""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """Lets ``kinode.compile(system)`` be the function although this package bears its name."""

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        from kinode.compile.dynamics import compile

        return compile(*args, **keywords)


sys.modules[__name__].__class__ = _Callable
