"""What all reports share: one HTML page with its style inside, written into a folder that is made if needed."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from kinode.atomic_files import write_text
from kinode.errors import Error
from kinode.sheets.markup import Markup, join, tag

META = Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">')


def compose_page(title: str, body: Markup, *, policy: Markup | str = "", script: Markup | str = "") -> str:
    """The text of a page; the policy and the script are those of a player inside it."""
    css = resources.files("kinode.report").joinpath("report.css").read_text(encoding="utf-8")
    head = join([META, policy, tag("title", title), Markup(f"<style>\n{css}</style>")])
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}</head>\n<body>\n{body}\n{script}</body>\n</html>\n'


def make_folder(folder: str | os.PathLike[str]) -> Path:
    """The folder of a report, which is made if needed."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(f"{error.filename or path}: the report cannot be written: {error.strerror}") from None
    return path


def write_page(folder: str | os.PathLike[str], name: str, page: str) -> Path:
    """Write a page into a folder; gives the file."""
    file = make_folder(folder) / name
    write_text(file, page)
    return file
