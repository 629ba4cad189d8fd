"""Hooks that do nothing: the defaults wherever a mechanic can be given a function of its title.

They accept any arguments, so one function per result fits every hook.
"""

from __future__ import annotations


def do_nothing(*args: object) -> None:
    """A hook that has no effect, or gives nothing."""


def never(*args: object) -> bool:
    """A condition that does not hold."""
    return False


def no_reason(*args: object) -> str | None:
    """A rule that has no objection."""
    return None


def no_items(*args: object) -> tuple[()]:
    """A rule that names nothing."""
    return ()
