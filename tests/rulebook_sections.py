"""Which sections of a rulebook the rule tests of a folder are named after.

A rule test is called `test_`, the section with its points as underlines, and what it tries:
`test_6_3_1_track_runs_into_no_blank_side` is of §6.3.1, and not of §6.3, which has sentences of its own.
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
    """The sections that a test could be named after, the deepest first: a number that belongs to what
    it tries may follow that of its section."""
    said = re.match(r"test_(\d{1,2}(?:_\d{1,2})*)_", name)
    parts = said[1].split("_") if said else []
    return [".".join(parts[:end]) for end in range(len(parts), 0, -1)]


def untested_sections(names: Collection[str], sections: Collection[str]) -> list[str]:
    """The sections without a test of their own."""
    tested = {next((s for s in candidate_sections(name) if s in sections), None) for name in names}
    return [s for s in sections if s not in tested]


def misnamed_tests(names: Collection[str], known: Collection[str]) -> list[str]:
    """The tests named after a section that there is not."""
    return [
        name for name in names if (said := candidate_sections(name)) and not any(s in known for s in said)
    ]
