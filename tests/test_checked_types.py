"""What `make lint` says of types: mistakes that are not found, names without a type, an unchecked player."""

import check_types

import kinode as kn


def right_messages():
    """What mypy says where all is as it should be."""
    script = [line.strip() for line in check_types.write_user_script().splitlines()]
    wrong = [line for line in script if "# wrong: " in line]
    assert len(wrong) == 4
    messages = {line: [f'error: unexpected "{line.partition("# wrong: ")[2].split()[0]}"'] for line in wrong}
    return messages | {f"reveal_type(kn.{name})": ['note: Revealed type is "def ()"'] for name in kn.__all__}


def test_every_kind_of_fault_is_said():
    messages = right_messages()
    assert check_types.find_faults(messages) == []
    missed = next(iter(messages))
    assert check_types.find_faults({k: v for k, v in messages.items() if k != missed}) == [
        f"not found to be wrong: {missed}"
    ]
    loose = messages | {"reveal_type(kn.load)": ['note: Revealed type is "Any"']}
    assert check_types.find_faults(loose) == ['kn.load has no type: note: Revealed type is "Any"']
    good = messages | {"assert_type(system.body(), Body)": ["error: no"], "mypy": ["no module"]}
    assert check_types.find_faults(good) == ["assert_type(system.body(), Body): error: no", "mypy: no module"]


def test_a_player_that_cannot_be_checked_is_a_fault_where_ci_is_set(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(check_types, "COMPILER", tmp_path / "tsc")
    monkeypatch.setenv("CI", "true")
    (fault,) = check_types.check_player()
    assert "npm ci" in fault
    monkeypatch.delenv("CI")
    assert check_types.check_player() == []
    assert capsys.readouterr().err.strip() == fault
