"""What stands below a run of the tests: what was not tried, with the cure, and what the run cost."""

import re

from run_summary import RunSummary, group_skips


def test_skips_are_grouped_by_reason_with_the_command_that_cures():
    browser = "Skipped: no Chromium was found on this machine: install chromium"
    reasons = [
        browser,
        "Skipped: signals as on POSIX",
        browser,
        "Skipped: could not import 'fmpy': No module named 'fmpy'",
    ]
    assert group_skips(reasons) == [
        "  2 tests in a browser (no Chromium was found on this machine): apt-get install chromium",
        "  1 test (could not import 'fmpy'): make test EXTRAS=test-all",
        "  1 test (signals as on POSIX)",
    ]
    assert group_skips([]) == []


def test_the_cost_counts_workers_and_new_entries_of_the_cache(tmp_path):
    (tmp_path / "old").write_bytes(b"")
    summary = RunSummary(tmp_path)
    (tmp_path / "new").write_bytes(b"")
    node = type("Node", (), {"workeroutput": {"processor_seconds": 1000.0, "nightly": 3}})
    summary.pytest_testnodedown(node)
    summary.pytest_testnodedown(node)
    assert summary.nightly == 3
    text = summary.describe_cost()
    spent = int(re.search(r"(\d+) processor s", text)[1])
    assert spent >= 2000
    assert "; 0% of " in text
    assert text.endswith("cache of machine code of 1 entries at the start, 1 made")
