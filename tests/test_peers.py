"""Without a program that kinode is compared with, its tests are skipped by name; other failures stay failures."""

from peers import MissingPeers, all_are_asked, find_missing

pytest_plugins = ["pytester"]
PEERS = MissingPeers({"mujoco": "mujoco-core", "casadi": "casadi"})


def raised(make):
    try:
        make()
    except Exception as error:
        return error


def test_the_reason_is_the_missing_package():
    def chain():
        try:
            raise ModuleNotFoundError("No module named 'mujoco.viewer'", name="mujoco.viewer")
        except ModuleNotFoundError as error:
            raise RuntimeError("while collecting") from error

    def hint():
        raise ValueError("to_casadi needs the package casadi: pip install 'kinode[casadi]'")

    def other():
        raise ModuleNotFoundError("No module named 'numpy.lost'", name="numpy.lost")

    assert PEERS.why(raised(chain)) == "mujoco-core is not installed"
    assert PEERS.why(raised(hint)) == "casadi is not installed"
    assert PEERS.why(raised(other)) == PEERS.why(AssertionError("casadi gives 3")) == PEERS.why(None) == ""


def test_files_and_tests_are_skipped(pytester):
    pytester.makepyfile(
        test_import="import lost_peer\ndef test(): pass",
        test_call="def test_within(): import lost_peer\ndef test_wrong(): assert 1 == 2\ndef test_right(): pass",
    )
    result = pytester.inline_run("-p", "no:cacheprovider", plugins=[MissingPeers({"lost_peer": "lost-peer"})])
    result.assertoutcome(passed=1, skipped=2, failed=1)


def test_what_is_installed_is_not_missing():
    missing = find_missing()
    assert "numpy" not in missing and "pytest" not in missing
    if all_are_asked():
        assert missing == {}
