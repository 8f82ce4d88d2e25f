"""What a class offers and a later package does: ``run.plot`` is a function of views, ``system.save`` one of formats.

Such a function is found by its name in this table when it is first called.  It is the only place of kinode where an
earlier package names a later one; ``tests/test_layers.py`` sees to that.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

HOOKS = {
    # of System, and of the kinds of elements
    "save": "kinode.formats.yaml_files",
    "export": "kinode.exporters.export",
    "load_builtin_kinds": "kinode.model.builtin_kinds",
    # of everything that a notebook shows
    "notebook_html": "kinode.views.notebook",
    # of kn.load
    "load_results": "kinode.results.run_files",
    "load_run": "kinode.results.run_files",
    "load_study": "kinode.studies.store",
    # of Dynamics
    "make_stepper": "kinode.tasks.stepper",
    "find_steppers": "kinode.tasks.stepper",
    "to_casadi": "kinode.exporters.frameworks.casadi_functions",
    "to_jax": "kinode.exporters.frameworks.jax_functions",
    "to_torch": "kinode.exporters.frameworks.torch_functions",
    # of kn.export
    "diagram": "kinode.views.diagram.circuit_diagram",
    # of Circuit
    "operating_space": "kinode.tasks.operating_space",
    # of Trajectory and its records
    "simulate": "kinode.tasks.simulate",
    "repeat_motion": "kinode.tasks.simulate",
    "plot": "kinode.views.plots.time_plots",
    "plot_balance": "kinode.views.plots.load_plots",
    "plot_causes": "kinode.views.plots.load_plots",
    "plot_polar": "kinode.views.plots.load_plots",
    "plot_spectrum": "kinode.views.plots.load_plots",
    "sweep": "kinode.studies.sweep",
    "plot_tolerance": "kinode.views.plots.fit_plots",
    "plot_shaking": "kinode.views.plots.load_plots",
    "report": "kinode.report.run_report",
    "view": "kinode.studio.live.view",
    "report_player": "kinode.player.player_file",
    "run_bundle": "kinode.player.widget",
    # of Study
    "plot_study": "kinode.views.plots.study_plots",
    "report_study": "kinode.report.study_reports",
    # of Fit
    "plot_fit": "kinode.views.plots.fit_plots",
    "report_fit": "kinode.report.study_reports",
    # of Explanation
    "draw_scheme": "kinode.views.mechanism.vector_scheme",
    "draw_chart": "kinode.views.mechanism.flow_chart",
}


def hook(name: str) -> Any:
    """The function of that name, from the package that has it."""
    return getattr(import_module(HOOKS[name]), name)
