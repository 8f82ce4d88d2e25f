"""The player inside a report, in the place of its still picture, which stays for paper."""

from __future__ import annotations

from typing import NamedTuple

from kinode.errors import Error
from kinode.results.trajectory import Trajectory
from kinode.studio.player_file import player_markup, player_policy, player_script
from kinode.studio.run_document import run_document
from kinode.symbolic.markup import Markup


class ReportPlayer(NamedTuple):
    """What a report holds of the player: its element, its program and the rule that lets no other run.

    Or a sentence that says why it has none.
    """

    element: Markup
    script: Markup
    policy: Markup
    missing: str


def report_player(run: Trajectory, seen_from: str | None = None, equations: bool = True) -> ReportPlayer:
    """The player of a run for a report."""
    try:
        script = player_script()
    except Error as error:
        return ReportPlayer(Markup(""), Markup(""), Markup(""), str(error))
    element = player_markup([run_document(run, seen_from=seen_from, equations=equations)], theme="light", apart=True)
    return ReportPlayer(Markup(element), Markup(script), Markup(player_policy()), "")
