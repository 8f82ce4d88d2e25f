"""Files that the present code writes, and its numbers: what every later one opens, goes on with and finds again.

    python tests/support/stored_files.py [runs tables studies pages exports pickles numbers printed]

writes these parts of ``tests/known/stored`` anew, or all of them.  That is right where numbers or forms were meant to
change, never where a test fails after a change that was to keep them.  ``tests/known/test_stored_files.py`` reads them.
"""

import contextlib
import io
import json
import pickle
import runpy
import shutil
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np

import kinode as kn
from kinode.ode.method_table import METHODS
from kinode.player.player_file import pack_bytes
from kinode.player.run_document import make_documents
from kinode.studies.store import StudyStore

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
FOLDER = ROOT / "tests" / "known" / "stored"

if __name__ == "__main__":  # pytest has it in its path
    sys.path.append(str(ROOT / "tools"))

from compare_platforms import run_example  # noqa: E402

DIGITS = 13  # of stored numbers: more than machines share
TIGHT = {"method": "dop853", "rtol": 1e-10, "atol": 1e-12}

# -- runs: by name the example, how it is run, and what is read of the file ------------------------------------------
PUSH = ([0.0, 0.1, 0.3], [0.0, 5.0, -2.0])
RUNS = {
    "pendulum": ("pendulum", 0.3, {}, ("pivot.q", "pivot.reaction.force", "system.energy")),
    "by_stiff": ("four_bar", 0.3, {"method": "stiff"}, ("top.q", "left.reaction.force")),
    "by_rk4": ("gyroscope", 0.1, {"method": "rk4", "step": 1e-3}, ("system.kinetic_energy",)),
    "stopped_early": ("double_pendulum", 5.0, {"stop_when": "elbow.q > 0.5"}, ("elbow.reaction.force",)),
    "with_events": ("backlash_axis", 0.2, {}, ("elbow.q", "elbow.reaction.force")),
    "with_modes": ("brake_arm", 0.3, {}, ("elbow.u",)),
    "with_clocks": ("balanced_pole", 0.1, {}, ()),
    "with_course": ("cart_pole", 0.3, {"inputs": {"push": PUSH}}, ("rail.q", "rail.reaction.force")),
    "with_derivatives": ("double_pendulum", 0.3, {"sensitivity": ["elbow.q", "shoulder.u"]}, ("elbow.q",)),
    "network": ("motor_axis", 0.1, {}, ("elbow.q", "elbow.reaction.moment")),
    "ship": ("ship_gimbal", 0.5, {}, ("azimuth.q", "elevation.reaction.moment")),
}
TABLED = "with_events"

# -- studies: by name the model, what varies, until when, and the other arguments ------------------------------------
STUDIES = {
    "grid": (
        "double_pendulum", {"elbow.q": [0.0, 0.2, 0.4, 0.6], "rtol": [1e-7, 1e-5]}, 0.3,
        {"keep": ["elbow.reaction.force|peak", "elbow.u"], "samples": 4},
    ),
    "drawn": (
        "backlash_axis", {"elbow.q": kn.normal("0 deg", "1 deg"), "shaft.u": kn.between(0.0, 5.0)}, 0.1,
        {"keep": ["elbow.q|final", "elbow.reaction.force|rms"], "n": 8, "design": "latin", "seed": 3},
    ),
}  # fmt: skip

PAGES = {
    "pendulum": ("pendulum", 1.0, {"samples": 31, **TIGHT}),
    "backlash_axis": ("backlash_axis", 0.2, {"samples": 9}),
}

LIBRARIES = {
    "pendulum": ("pivot.q", "pivot.u", "pivot.reaction.force"),
    "backlash_axis": ("shaft.q", "elbow.q"),
}
FMU_MODEL, FMU_OUTPUTS = "pendulum", ("pivot.q", "pivot.reaction.force")
FMU_VERSIONS = ("2.0", "3.0")
EXPORT_TIMES = (0.05, 0.1, 0.2)

PICKLED = ("four_bar", "motor_axis")
PICKLED_UNTIL = 0.1

# -- numbers of all examples: for so long, in s, with every method ------------------------------
MODELS = sorted([*EXAMPLES.glob("*.yaml"), *EXAMPLES.glob("*.xml")])
LONGEST = 1.0
SPANS = {"four_bar": 0.3, "quadcopter": 0.5, "spinning_shell": 0.05, "spinning_top": 0.05, "walker": 0.3}
"""Where rounding grows: with other code for the same sums (no fused products) 1e-9 is kept for so long."""
LOOSER = {"brake_arm.yaml dop853": 1e-8}
"""Where it grows from the start."""
STEP = 1e-3
STEPS = {"spinning_shell": 1e-5}


def load_example(name):
    return kn.load(EXAMPLES / f"{name}.yaml")


def rounded(value):
    """Numbers as they are stored, at any depth."""
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [rounded(inner) for inner in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def read_run(run, quantities):
    """What is compared of a run, in the form of ``version_0_1/values.json``."""
    known = {"t": run.t.tolist(), "y_end": run.y[-1].tolist(), "status": run.status, "events": len(run.events)}
    return known | {name: np.ravel(run[name][-1]).tolist() for name in quantities}


def make_run(name):
    model, until, options, _ = RUNS[name]
    return kn.simulate(load_example(model), until, **({"samples": 4} | options))


def make_study(name, **more):
    model, over, until, options = STUDIES[name]
    return kn.sweep(load_example(model), over, until, **options, workers=1, **more)


def small_chunks():
    """Studies in chunks of two runs."""
    return patch("kinode.studies.sweep.MOST_OF_CHUNK", 2)


def interrupted():
    """Studies are ended by Ctrl-C after their second chunk."""
    write, written = StudyStore.write, []

    def write_two(*given):
        written.append(given)
        if len(written) > 2:
            raise KeyboardInterrupt
        write(*given)

    return patch.object(StudyStore, "write", write_two)


def read_study(study):
    """The results of a study, by name."""
    return {name: study.data[name].values.tolist() for name in study.kept}


def make_packet(name):
    """The packet of a run as a page holds it."""
    model, until, options = PAGES[name]
    return make_documents([kn.simulate(load_example(model), until, **options)])[0].packet(encoded=True)


def make_library(name, folder):
    return kn.export(load_example(name), "c", folder, outputs=list(LIBRARIES[name]))


def read_library(library):
    """The outputs of a loaded library after some steps."""
    return [list(row) for row in library.run(0.0, EXPORT_TIMES)]


def make_fmu(version, file):
    options = {"outputs": list(FMU_OUTPUTS), "version": version, "platforms": ["linux"]}
    return kn.export(load_example(FMU_MODEL), "fmu", file, **options)


def example_numbers(name, method):
    """The numbers of an example with a method, and the time of events; as ``tools/compare_platforms.py`` takes them."""
    stem = Path(name).stem
    step = STEPS.get(stem, STEP) if METHODS[method].fixed else None
    numbers = run_example(EXAMPLES / name, SPANS.get(stem, LONGEST), method, step=step)
    del numbers["seconds"]
    return numbers


def print_example(name):
    """What a Python example prints, in a folder of its own."""
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        copied = Path(folder).resolve() / "examples"
        shutil.copytree(EXAMPLES, copied)
        with contextlib.redirect_stdout(said):
            runpy.run_path(str(copied / name), run_name="__main__")
        return said.getvalue().replace(str(copied.parent), "FOLDER")


# -- writing ---------------------------------------------------------------------------------------------------------
def renew(part):
    """An empty folder for a part."""
    folder = FOLDER / part
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def write_json(file, value):
    """One line for each entry at the top."""
    lines = [f"{json.dumps(name)}: {json.dumps(rounded(inner))}" for name, inner in value.items()]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def write_runs():
    folder, known = renew("runs"), {}
    for name, (_, _, _, quantities) in RUNS.items():
        run = make_run(name)
        run.save(folder / f"{name}.nc")
        known[name] = read_run(run, quantities)
    write_json(FOLDER / "values.json", known)


def write_tables():
    folder, run = renew("tables"), kn.load(FOLDER / "runs" / f"{TABLED}.nc")
    run.to_csv(folder / "run.csv")
    run.to_excel(folder / "run.xlsx")
    run.to_mat(folder / "run.mat")


def write_studies():
    folder, known = renew("studies"), {}
    for name in STUDIES:
        with small_chunks():
            study = make_study(name, store=folder / f"{name}_whole.zarr")
            with interrupted():
                make_study(name, store=folder / f"{name}_half.zarr")
        study.save(folder / f"{name}.nc")
        known[name] = read_study(study)
    write_json(folder / "values.json", known)


def write_pages():
    folder = renew("pages")
    for name in PAGES:
        (folder / f"{name}.txt").write_text(pack_bytes(make_packet(name)) + "\n", encoding="ascii")


def write_exports():
    from c_models import LoadedModel

    folder, known = renew("exports"), {}
    for name in LIBRARIES:
        make_library(name, folder / name)
        with tempfile.TemporaryDirectory() as place:
            copied = shutil.copytree(folder / name, Path(place) / name)
            known[name] = read_library(LoadedModel(None, copied))
    for version in FMU_VERSIONS:
        make_fmu(version, folder / f"{FMU_MODEL}_{version[0]}.fmu")
    write_json(folder / "values.json", known)


def write_pickles():
    folder, known = renew("pickles"), {}
    for name in PICKLED:
        system = load_example(name)
        dynamics = kn.compile(system)
        (folder / f"{name}_system.pickle").write_bytes(pickle.dumps(system, protocol=4))
        (folder / f"{name}_dynamics.pickle").write_bytes(pickle.dumps(dynamics, protocol=4))
        known[name] = kn.simulate(dynamics, PICKLED_UNTIL).y[-1].tolist()
    write_json(folder / "values.json", known)


def write_numbers():
    known = {}
    for path in MODELS:
        for method in METHODS:
            known[f"{path.name} {method}"] = example_numbers(path.name, method)
            print(path.name, method, flush=True)
    write_json(FOLDER / "numbers.json", known)


def write_printed():
    folder = renew("printed")
    for path in sorted(EXAMPLES.glob("*.py")):
        (folder / f"{path.stem}.txt").write_text(print_example(path.name), encoding="utf-8")


PARTS = {
    "runs": write_runs, "tables": write_tables, "studies": write_studies, "pages": write_pages,
    "exports": write_exports, "pickles": write_pickles, "numbers": write_numbers, "printed": write_printed,
}  # fmt: skip

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
