"""Which counterweight spares the main bearing of an engine, at which speed?

The slider-crank of slider_crank.yaml gets a weight opposite the crank pin.  Shows a study over a grid of weights and
speeds, with the peak and the mean size of the bearing's force, the best weight at each speed, and a plot.
"""

from pathlib import Path

import numpy as np

import kinode as kn

engine = kn.load(Path(__file__).with_name("slider_crank.yaml"), name="engine")
engine.parameter("counterweight", "0 kg")
center = "(0.4*0.015 - 0.04*counterweight)/(0.4 + counterweight)"
engine.change("crank", mass="0.4 + counterweight", com=[center, 0, 0])

weights, speeds = np.linspace(0.0, 0.5, 21), ["1000 rpm", "3000 rpm", "5000 rpm"]
keep = ["main.reaction.force|peak", "main.reaction.force|rms"]
study = kn.sweep(engine, {"counterweight": weights, "n": speeds}, "60 ms", keep=keep)
print(study)

peaks = study["main.reaction.force|peak"].values
for k, speed in enumerate(speeds):
    best = peaks[:, k].argmin()
    print(f"{speed}: least peak {peaks[best, k]:.0f} N with {weights[best]:.3f} kg")
study.plot("main.reaction.force|peak", file="engine_study.png")
