"""A study: which counterweight keeps the main bearing of an engine cool, at which speed?

The slider-crank of slider_crank.yaml gets a weight opposite the crank pin.  For 21 weights and three speeds, peak and
mean size of the main bearing's force are kept.
"""

import sys
from pathlib import Path

import numpy as np

import kinode as kn

EXAMPLES = Path(__file__).resolve().parent


def make_engine() -> kn.System:
    engine = kn.load(EXAMPLES / "slider_crank.yaml", name="engine")
    engine.parameter("counterweight", "0 kg")
    center = "(0.4*0.015 - 0.04*counterweight)/(0.4 + counterweight)"
    engine.change("crank", mass="0.4 + counterweight", com=[center, 0, 0])
    return engine


def main(folder: str) -> None:
    over = {"counterweight": np.linspace(0.0, 0.5, 21), "n": ["1000 rpm", "3000 rpm", "5000 rpm"]}
    keep = ["main.reaction.force|peak", "main.reaction.force|rms"]
    study = kn.sweep(make_engine(), over, until="60 ms", keep=keep)
    print(study)
    force = study["main.reaction.force|peak"].values
    for k, speed in enumerate(over["n"]):
        least = force[:, k].argmin()
        print(f"{speed}: least peak {force[least, k]:.0f} N with {over['counterweight'][least]:.3f} kg")
    study.plot(file=Path(folder) / "engine_study.png", title="Main bearing of a slider-crank engine")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
