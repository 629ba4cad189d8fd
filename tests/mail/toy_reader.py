"""The text of a reply read by the rules of the toy game of `toy_service`."""

import re
from collections.abc import Collection, Sequence

from mail.reading.reply_text import ParsedReply, judge, split_reply
from mail.reading.unclear_lines import Vocabulary

_REST = re.compile(
    r"(?: (?:\$?[\d,.]+|[A-Z&]{1,4}|[A-Z]\d{1,2}(?:-[A-Z]\d{1,2})*,?|best|train|from|pool|or|-|…))*"
)


def parse_reply(text: str, verbs: Collection[str], names: Sequence[str] = ()) -> ParsedReply:
    """A reply as it is read where a line is legal that begins with a verb and goes on with names and
    numbers.
    """
    vocabulary = Vocabulary(
        frozenset(verbs),
        frozenset(verbs),
        frozenset({"SV", "CA", "PRR"}),
        ("buy SV", "pass"),
        frozenset(names),
    )
    reply = split_reply(text, verbs)
    readable = {
        line
        for line in reply.candidates
        if _REST.fullmatch(line.partition("#")[0].rstrip(), len(line.split()[0]))
    }
    return judge(reply, readable, vocabulary)
