"""The counter of the house's size, on a text whose numbers are counted by hand."""

from count_house import Size, measure, write_table

TEXT = '''"""A module."""

# a comment
class A:
    """Holds
    nothing."""

    x: int = 1
    """What it is."""

    def f(self): return self.x  # fmt: skip
'''


def test_sizes_are_those_counted_by_hand():
    code = ["class A:", "x: int = 1", "def f(self): return self.x  # fmt: skip"]
    # Module 1; 3 texts, each with its expression 6; class 1; statement with number 2, names with their contexts 4;
    # function, arguments, argument, return 4; attribute and name with their contexts 4
    assert measure(TEXT) == Size(1, 0, 11, 22, 1, 4, 3, sum(map(len, code)), 1)


def test_sizes_add_up_and_are_shown():
    both = measure(TEXT) + measure("x = 1\n")
    assert (both.files, both.lines, both.code) == (2, 12, 4)
    assert write_table([("",) * 10, both.row("both")]).split()[:4] == ["both", "2", "0", "12"]
