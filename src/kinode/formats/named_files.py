"""Names of files in the text of a model."""

from __future__ import annotations

import re

_NAMED = re.compile(r"[\w./\\-]{1,200}\.(?:ya?ml|json|urdf|xml|csv|txt|dat|npy|npz)\b")


def find_file_names(text: str) -> list[str]:
    """Words of a text that look like names of files, each once."""
    return [name.strip() for name in dict.fromkeys(_NAMED.findall(text))]
