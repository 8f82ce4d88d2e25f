"""The snippets of the page on JAX and PyTorch run in order."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "frameworks.md"


def test_the_page_runs(tmp_path, monkeypatch, capsys):
    text = PAGE.read_text(encoding="utf-8")
    (tmp_path / "examples").symlink_to(PAGE.parents[2] / "examples")
    monkeypatch.chdir(tmp_path)
    space: dict = {}
    for match in re.finditer(r"```py\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, re.DOTALL):
        capsys.readouterr()
        exec(compile(match[1], "frameworks.md", "exec"), space)
        if match[2] is not None:
            words, real = match[2].split(), capsys.readouterr().out.split()
            assert len(words) == len(real), real
            for shown, word in zip(words, real):
                try:
                    assert float(word) == pytest.approx(float(shown), rel=0.05, abs=1e-6), real
                except ValueError:
                    assert shown == word, real
