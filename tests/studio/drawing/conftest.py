"""A desk of the studio at a folder with a model; what belongs to no model is kept apart."""

from pathlib import Path

import pytest

from kinode.studio.document import journal
from kinode.studio.document.document_files import new_file, open_file
from kinode.studio.editor.studio_desk import StudioDesk
from kinode.studio.server.session import Session

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.fixture(scope="session")
def rlc():
    """The text of the model that is opened."""
    return (EXAMPLES / "rlc.yaml").read_text()


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(journal, "LATE_SECONDS", 0.01)


@pytest.fixture
def folder(tmp_path, rlc):
    place = tmp_path / "models"
    place.mkdir()
    (place / "rlc.yaml").write_text(rlc)
    return place


@pytest.fixture
def make_desk(folder):
    desks = []

    def make(name="rlc.yaml", **options):
        file = new_file(folder) if name is None else open_file(folder / name)
        desks.append(StudioDesk(Session(**options), file, folder))
        return desks[-1]

    yield make
    for desk in desks:
        desk.close()
