"""Names of players and tables: nobody can look like somebody else, and no name is more than a name (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

MAX_TABLE_NAME = 60
PUNCTUATION = " .,:;!?'’&+-–—()%€$£"
"""What a table's name may have beside letters and digits: nothing that Discord or an email would render."""


def check_distinct(name: str, others: Iterable[str]) -> None:
    """Raises ValueError for a name that looks like another one: `Аnn` with a Cyrillic А, and `Ann`."""
    for other in others:
        if name != other and _skeletons(name) & _skeletons(other):
            raise ValueError(f"{name} looks like {other}, who is at this table; choose another name.")


def _skeletons(name: str) -> set[str]:
    """What a name looks like, as typed and in lower case."""
    return {"".join(map(_skeleton, text)) for text in (name, name.casefold())}


@cache
def _skeleton(character: str) -> str:
    """One text for all characters that look like this one (Unicode TR39): `m` looks like `rn`."""
    from confusable_homoglyphs.confusables import confusables_data  # it reads a long list, for new names only

    several = [
        c for entry in confusables_data.get(character, []) if len(c := entry["c"]) > 1 and _is_plain(c)
    ]
    if several:
        return "".join(map(_skeleton, several[0]))
    alike: list[str] = [entry["c"] for entry in confusables_data.get(character, []) if len(entry["c"]) == 1]
    # Each group is a star: one character lists all others, and these list only that one.
    return max([character, *alike], key=lambda c: (len(confusables_data.get(c, [])), c))


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isalnum()


def table_name(text: str) -> str:
    """The name of a table, with single spaces. Raises ValueError for one that is more than a name."""
    name = " ".join(text.split())
    wrong = next((c for c in name if not (c.isalnum() or c in PUNCTUATION)), None)
    if wrong is not None:
        shown = wrong if wrong.isprintable() else f"U+{ord(wrong):04X}"
        raise ValueError(
            f"A table's name has letters, digits and simple punctuation; {shown} cannot be part of it."
        )
    if len(name) > MAX_TABLE_NAME:
        raise ValueError(f"A table's name has at most {MAX_TABLE_NAME} characters; this one has {len(name)}.")
    return name


def plain_table_name(text: str) -> str:
    """A table's name from a text that nobody typed for it, such as the title of an imported file."""
    plain = "".join(c if c.isalnum() or c in PUNCTUATION else " " for c in text)
    return " ".join(plain.split())[:MAX_TABLE_NAME].strip()
