"""Names of files in the text of a model."""

from __future__ import annotations

import re

_ENDINGS = "ya?ml|json|urdf|xml|mjcf|xacro|csv|tsv|txt|dat|npy|npz|xlsx|xlsm|mat|parquet|pq|stl|obj|dae|glb"
_NAMED = re.compile(rf"[\w./\\-]{{1,200}}\.(?:{_ENDINGS})\b")


def find_file_names(text: str) -> list[str]:
    """Words of a text that look like names of files, each once."""
    return [name.strip() for name in dict.fromkeys(_NAMED.findall(text))]
