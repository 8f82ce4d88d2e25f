"""The list of slow tests names tests that there are, and is made from durations as it says."""

import find_slow


def test_listed_tests_exist():
    names = find_slow.LIST.read_text().splitlines()
    assert names == sorted(set(names))
    gone = [name for name in names if not find_slow.exists(name)]
    assert not gone, "`python tests/support/find_slow.py` takes them off the list"


def test_the_slowest_are_left_out_until_the_rest_is_short():
    text = "9.00s call     a.py::long\n0.50s setup    a.py::short\n0.50s call     a.py::short\n"
    text += "2.00s call     b.py::cases[one]\n3.00s call     b.py::cases[two]\n0.10s call     b.py::cases[three]\n"
    seconds = find_slow.read_durations(text)
    assert seconds["a.py::short"] == 1.0
    assert find_slow.find_slow(seconds, 0.1) == ["a.py::long", "b.py::cases"]
    assert find_slow.find_slow(seconds, 0.25) == ["a.py::long", "b.py::cases[two]"]


def test_tests_are_found_in_the_list_by_case_function_and_folder():
    listed = {"a.py::one", "b.py::two[x]", find_slow.BROWSER}
    names = ["a.py::one", "a.py::one[case]", "b.py::two[x]", "b.py::two[y]", f"{find_slow.BROWSER}test_c.py::three"]
    assert [find_slow.is_listed(name, listed) for name in names] == [True, True, True, False, True]


def test_a_test_that_moved_to_another_file_is_found_again():
    own = "tests/test_slow_list.py::test_a_test_that_moved_to_another_file_is_found_again"
    assert find_slow.find_again(own) == find_slow.find_again(own.replace("slow_list", "records")) == own
    assert find_slow.find_again("tests/test_records.py::test_that_there_is_not") == ""
