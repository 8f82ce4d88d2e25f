"""A model file for the commands."""

import pytest
from command_line import PENDULUM


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "pendulum.yaml"
    path.write_text(PENDULUM)
    return path
