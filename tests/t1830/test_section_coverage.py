"""Every numbered section of the rulebook with rules of play has its test."""

from pathlib import Path

from tests.rulebook_sections import misnamed_tests, rule_tests, untested_sections

HERE = Path(__file__).parent

SECTIONS = """
2 3 4 5 6 7 7.1 7.2 7.3 8 8.1 8.2 9 10 11 12 13 14 15 16 17 18 18.1 18.2 18.3 19 19.1
20.1 20.2 20.3 21 22 23.1 23.2 23.3 24 25
""".split()

LEFT_OUT = {
    "1": "introduces the game; its ends and its winner are 1830 §25",
    "20": "a heading with a sentence of strategy over 1830 §20.1-§20.3",
    "23": "a heading over 1830 §23.1-§23.3",
}

NUMBERED = """
8.2.1 8.2.2 8.2.3 8.2.4 12.1 12.2 12.3 24.1 24.2 24.3 24.4 24.5 24.6
""".split()
"""Numbered points inside sections."""

TABLES = {
    "Table 1": "test_table_1_price_and_revenue",
    "Table 1 note 1": "test_table_1_1_",
    "Table 1 note 2": "test_table_1_2_",
    "Table 1 note 3": "test_table_1_3_",
    "Table 1 note 4": "test_table_1_4_",
    "Table 1 note 5": "test_table_1_5_",
    "Table 2": "test_table_2_",
    "Table 3": "test_10_certificate_limit",
    "Table 4": "test_21_each_type_has_its_number_and_price",
    "Table 5": "test_2_2400_dollars_",
    "Table 6": "test_table_6_",
    "Table 7": "test_table_7_",
}

TABLES_LEFT_OUT = {"Table 8": "the notes of money in the box; the game counts dollars, not notes"}


def test_every_section_has_a_test() -> None:
    assert not untested_sections(rule_tests(HERE), (*SECTIONS, *NUMBERED))


def test_every_table_has_a_test() -> None:
    names = rule_tests(HERE)
    assert not [table for table, start in TABLES.items() if not any(n.startswith(start) for n in names)]
    assert {f"Table {n}" for n in range(1, 9)} <= TABLES.keys() | TABLES_LEFT_OUT.keys()


def test_no_section_is_forgotten() -> None:
    """The book's chapters run from 1 to 25."""
    chapters = {int(section.split(".")[0]) for section in (*SECTIONS, *LEFT_OUT)}
    assert chapters == set(range(1, 26))


def test_no_test_names_a_section_that_there_is_not() -> None:
    assert not misnamed_tests(rule_tests(HERE), (*SECTIONS, *NUMBERED))
