"""Every numbered section of the rulebook's chapters 1 to 9 has its test."""

from pathlib import Path

from tests.rulebook_sections import misnamed_tests, rule_tests, untested_sections

HERE = Path(__file__).parent

SECTIONS = """
1 1.1 1.2 1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.2.6 1.2.7 1.2.8 1.2.9 1.2.10 1.3 1.4
2 3 4.1 4.2
5 5.1 5.2 5.2.1 5.3 5.4 5.4.1 5.5 5.6 5.7
6 6.1 6.2 6.3 6.3.1 6.3.2 6.4 6.5 6.6 6.7 6.8 6.9 6.10 6.11
7 7.1 7.1.1 7.1.2 7.1.3 7.1.4 7.2 7.2.1 7.2.2 7.2.3 7.2.4 7.3 7.4 7.5
8 9 9.1 9.2 9.3 9.4
""".split()

LEFT_OUT = {"4": "a heading over 1817 §4.1 and §4.2"}

NUMBERED = """
7.2.4.1 7.2.4.2 7.2.4.3 7.2.4.4 7.2.4.5 7.2.4.6 7.2.4.7 7.2.4.8 7.2.4.9 7.2.4.10
""".split()
"""The steps of a sale, which the book numbers."""


def test_every_section_has_a_test() -> None:
    assert not untested_sections(rule_tests(HERE), (*SECTIONS, *NUMBERED))


def test_no_section_is_forgotten() -> None:
    """The rules are the book's chapters 1 to 9; each section's own is in the list too."""
    assert {int(section.split(".")[0]) for section in SECTIONS} == set(range(1, 10))
    known = {*SECTIONS, *LEFT_OUT}
    assert all(section.rpartition(".")[0] in known for section in (*SECTIONS, *NUMBERED) if "." in section)


def test_no_test_names_a_section_that_there_is_not() -> None:
    assert not misnamed_tests(rule_tests(HERE), (*SECTIONS, *NUMBERED))
