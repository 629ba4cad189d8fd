"""Lines of an email that ask to be shown something, and change nothing."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from mail.port import QueryKind
from mail.reading.line_text import without_comment


class MailQuery(NamedTuple):
    """A query and its argument: `20` in `log 20`."""

    kind: QueryKind
    argument: str = ""


def parse_query(line: str) -> MailQuery | None:
    """The query in a line (`map`, `show map`, `log 20`, `try LINE`); None for any other line."""
    line = without_comment(line)
    match = re.fullmatch(
        r"(?:show )?(help|status|turn|sheet|board|map|market|bids|trains|runs|log)(?: (\d{1,3}))?[?!]?",
        line.casefold(),
    )
    if match and (match[1] == "log" or not match[2]):
        what: QueryKind = match[1]  # type: ignore[assignment]
        return MailQuery(what, match[2] or "")
    of_game = re.fullmatch(
        r"(?:show )?(chart|records|animation)(?: (worth|prices|revenue))?[?!]?", line.casefold()
    )
    if of_game and (of_game[1] == "chart" or not of_game[2]):
        kind: QueryKind = of_game[1]  # type: ignore[assignment]
        return MailQuery(kind, of_game[2] or "")
    more = re.fullmatch(
        r"(?:show +)?(at|company|player|export|privates|tiles|routes|try|plan)(?: +(.*))?",
        line,
        re.IGNORECASE,
    )
    if more is None or (more[2] or "").casefold() == "play":
        return None
    word = more[1].casefold()
    queries: QueryKind = "try" if word == "plan" else word  # type: ignore[assignment]
    return MailQuery(queries, more[2] or "")


def merge_queries(queries: Sequence[MailQuery]) -> list[MailQuery]:
    """The queries of a mail, each once and at most 5; all `try` lines together are one plan."""
    trials = [query.argument for query in queries if query.kind == "try"]
    others = [query for query in queries if query.kind != "try"]
    return list(dict.fromkeys([*others, *([MailQuery("try", "; ".join(trials))] if trials else [])]))[:5]
