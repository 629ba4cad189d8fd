"""The sections of a rulebook that the rule tests of a folder are named after.

The name of a rule test is `test_`, the section with underscores for its points, and what it checks:
`test_6_3_1_track_runs_into_no_blank_side` belongs to 1817 §6.3.1, not to 1817 §6.3.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path


def rule_tests(folder: Path) -> list[str]:
    """The names of all tests in that folder."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(folder.glob("test_*.py")))
    return [name for text in texts for name in re.findall(r"^def (test_\w+)", text, re.M)]


def candidate_sections(name: str) -> list[str]:
    """The sections that a test could be named after, the deepest first.

    A number in the description may follow that of the section.
    """
    number = re.match(r"test_(\d{1,2}(?:_\d{1,2})*)_", name)
    parts = number[1].split("_") if number else []
    return [".".join(parts[:end]) for end in range(len(parts), 0, -1)]


def untested_sections(names: Collection[str], sections: Collection[str]) -> list[str]:
    """The sections without a test of their own."""
    tested = {next((s for s in candidate_sections(name) if s in sections), None) for name in names}
    return [s for s in sections if s not in tested]


def misnamed_tests(names: Collection[str], known: Collection[str]) -> list[str]:
    """The tests named after an unknown section."""
    return [
        name
        for name in names
        if (sections := candidate_sections(name)) and not any(section in known for section in sections)
    ]
