"""Equalities of MJCF that say the same as others, or contradict them: held against ranks of the whole set."""

import numpy as np
import pytest

import kinode as kn

QUIET = '<default><geom contype="0" conaffinity="0"/></default>'
PENDULUMS = "".join(
    f'<body name="body_{joint}" pos="0 {y} 0"><joint name="{joint}" axis="0 1 0"/>'
    f'<geom size="0.1" pos="{0.3 + 0.1 * y} 0 0.05"/></body>'
    for y, joint in enumerate("abcd")
)


def coupled(folder, *rows):
    """Four pendulums with equalities (name, joint, leader or nothing, constant, ratio)."""
    said = "".join(
        f'<joint name="{name}" joint1="{one}" {f"""joint2="{two}" """ if two else ""}polycoef="{c!r} {k!r} 0 0 0"/>'
        for name, one, two, c, k in rows
    )
    text = f"<mujoco>{QUIET}<worldbody>{PENDULUMS}</worldbody><equality>{said}</equality></mujoco>"
    (folder / "model.xml").write_text(text)
    return kn.load(folder / "model.xml")


CONTRADICTIONS = {
    "e1 and e2 contradict each other: a is 0.1 by e1, and 0.3 by e2": (
        ("e1", "a", "", 0.1, 0), ("e2", "a", "", 0.3, 0)),
    "e1 and e2 contradict each other: b - 0.5*a is -0.05 by e1, and 0.05 by e2": (
        ("e1", "a", "b", 0.1, 2), ("e2", "b", "a", 0.05, 0.5)),
    "e1, e2 and e3 contradict each other: a - b is -0.2 by e1 and e2, and 0 by e3": (
        ("e1", "a", "", 0.1, 0), ("e2", "b", "", 0.3, 0), ("other", "c", "", 0, 0), ("e3", "a", "b", 0, 1)),
    "e1, e2 and e3 contradict each other: c - a is 0 by e1 and e2, and 0.2 by e3": (
        ("e1", "a", "b", 0, 1), ("e2", "b", "c", 0, 1), ("e3", "c", "a", 0.2, 1)),
}  # fmt: skip


@pytest.mark.parametrize("said", CONTRADICTIONS)
def test_equalities_that_contradict_each_other_are_refused_by_name(tmp_path, said):
    with pytest.raises(kn.ModelError) as caught:
        coupled(tmp_path, *CONTRADICTIONS[said])
    assert f'model.xml: the equalities {said}; take one out, or give it active="false"' in str(caught.value)


def test_an_equality_said_twice_is_one(tmp_path):
    one = ("e1", "a", "b", 0.1, 2)
    twice, once = coupled(tmp_path, one, ("e2", "b", "a", -0.05, 0.5)), coupled(tmp_path, one)
    assert "left out: equality e2: it follows from e1" in twice.notes
    runs = [kn.simulate(system, 1.0, samples=3) for system in (twice, once)]
    assert list(runs[0]["a.q"]) == list(runs[1]["a.q"]) and abs(runs[0]["a.q"][-1]) > 0.2


def consistent(rows):
    """By ranks alone: whether numbers for all joints exist; the matrix and the constants."""
    matrix = np.zeros((len(rows), 4))
    for line, (_, one, two, _, ratio) in zip(matrix, rows):
        line["abcd".index(one)] += 1
        if two:
            line["abcd".index(two)] -= ratio
    constants = np.array([row[3] for row in rows])
    ranks = [np.linalg.matrix_rank(m, tol=1e-6) for m in (matrix, np.column_stack([matrix, constants]))]
    return ranks[0] == ranks[1], matrix, constants


def random_rows(seed):
    """Up to five equalities; every second model is made to fit one position."""
    draw = np.random.default_rng(seed)
    place, rows = draw.choice([-0.5, 0.25, 1.0], 4), []
    for k in range(draw.integers(2, 6)):
        one, two = draw.choice(4, 2, replace=False)
        ratio = float(draw.choice([-1.0, 0.5, 2.0])) if draw.random() < 0.75 else 0.0
        c = place[one] - ratio * place[two] if seed % 2 else draw.choice([0.0, 0.1])
        rows.append((f"e{k}", "abcd"[one], "abcd"[two] if ratio else "", float(c), ratio))
    return rows


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 600), marks=pytest.mark.nightly)], ids=len)
def test_random_equalities_hold_or_are_refused(tmp_path, seeds):
    seen = []
    for seed in seeds:
        rows = random_rows(seed)
        fits, matrix, constants = consistent(rows)
        seen.append(fits)
        if not fits:
            with pytest.raises(kn.ModelError, match="contradict each other"):
                coupled(tmp_path, *rows)
            continue
        system = coupled(tmp_path, *rows)
        dynamics = kn.compile(system)
        names, start = [f"{joint}.q" for joint in "abcd"], dynamics.initial
        values = dynamics.evaluate(names, 0.0, start.q, start.u)
        assert matrix @ [values[name] for name in names] == pytest.approx(constants, abs=1e-9)
        assert dynamics.n_u == 4 - np.linalg.matrix_rank(matrix, tol=1e-6)
    assert {True, False} == set(seen)
