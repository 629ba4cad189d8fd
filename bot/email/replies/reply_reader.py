"""Reads the reply of a player: which of our emails it answers, what the service can read of it, what it asks
to be shown, and what an unclear one would do.

Which email it answers is told by the tokens that it carries. With sub-addressing, the token is in the address
that the mail was sent to; without it in the message that it answers, by its Message-ID.

A provider without sub-addressing delivers one address only. Then a token stands as `code-<token>` in three
places, of which mail programs keep at least one: in the display part of the Reply-To, in the last lines of
our email, which a reply quotes, and in the Message-ID. What the sender wrote above the quoted email comes
first, then the email that is answered. A display part may be an older one that an address book has kept, so
where it and the quoted email mean different seats, the mail is ambiguous, and nothing is played. A quoted
token counts for its owner only: another player may have written theirs into what is quoted.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from bot.email.reachability import Correspondents
from bot.email.replies.results import AcceptedLine, PlayResult
from bot.email.replies.seat_replies import SeatReplies
from bot.hub.request import LineAmbiguous, LineUnreadable
from mail.reading.line_text import first_word, normalize_line, words_of
from mail.reading.parser import ParsedMail
from mail.reading.quotes import ReplyLine, own_text
from mail.reading.reply_text import ParsedReply, ReplyText, judge, split_reply
from mail.reading.unclear_lines import Vocabulary, nearest_line
from mail.reply_address import ReplyToken, ServiceAddress, find_codes, hash_token


def merge_queries(queries: Sequence[str]) -> list[str]:
    """The queries of a mail, each once; all `try` lines together are one plan."""
    trials = [query.removeprefix("try").strip() for query in queries if first_word(query) == "try"]
    others = [query for query in queries if first_word(query) != "try"]
    return list(dict.fromkeys([*others, *([f"try {'; '.join(trials)}".strip()] if trials else [])]))


MAX_TOKENS = 10  # that are looked up for one mail
POLICY_VERBS = frozenset({"start", "stop", "unsubscribe", "yes", "confirm"})
YES_WORDS = frozenset({"yes", "y", "yep", "yeah", "ja", "oui", "si", "sí", "sim", "tak"})
_POLICY_LINE = re.compile(r"start|stop|unsubscribe|(?:yes|confirm):? [a-z0-9]{4,40}")
_FROM_HEX = re.compile(r"\s*from [a-z@]{1,2}\d{1,2} [a-z]{4,5}-?(?:east|west)?[.?]?\s*", re.IGNORECASE)
"""A question that begins as the head of a quoted email does, and is none."""
_SPEAKER = re.compile(r"[\s*•–-]{0,4}[^\W_]+(?: [^\W_]+){0,8} ?")


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A reply as it was read. text: the sender's own lines. vocabulary: by which it was judged."""

    text: ReplyText
    parsed: ParsedReply
    vocabulary: Vocabulary

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that are meant."""
        return tuple(line.text for line in self.parsed.lines)

    @property
    def says_yes(self) -> bool:
        """Whether the reply says yes, and nothing that could be played."""
        first = words_of(self.text.lines[0]) if self.text.lines else []
        is_yes = bool(first) and first[0] in YES_WORDS and set(first[1:]) <= YES_WORDS | {"please", "bitte"}
        return is_yes and not self.parsed.lines and not self.parsed.unclear


class TokenLookup:
    """Finds the valid tokens of a mail."""

    def __init__(self, address: ServiceAddress, people: Correspondents) -> None:
        self._address = address
        self._people = people

    async def tokens_of(self, mail: ParsedMail) -> list[ReplyToken]:
        """The valid tokens of a mail; several where it is ambiguous."""
        addressed = await self._valid(self._address.find_tokens(mail.recipients))
        if self._address.has_subaddresses:
            return addressed or await self._of_parent(mail)
        own_codes = find_codes(line.text for line in own_text(_lines(mail), ()).above)
        if own := await self._valid([*own_codes, *find_codes([mail.subject])]):
            return own[:1]
        if parent := await self._of_parent(mail):
            return parent
        found = await self._valid(find_codes(mail.text.splitlines()))
        quoted = [token for token in found if mail.sender in token.verified_addresses][:1]
        is_same = quoted and addressed and quoted[0].actor == addressed[0].actor
        return quoted if is_same else [*quoted, *addressed]

    async def _valid(self, secrets: list[str]) -> list[ReplyToken]:
        found = [await self._people.find_token(hash_token(each)) for each in secrets[:MAX_TOKENS]]
        return [token for token in found if token]

    async def _of_parent(self, mail: ParsedMail) -> list[ReplyToken]:
        for parent in mail.parent_ids:
            if self._address.is_own_message_id(parent) and (
                token := await self._people.find_token_by_message(parent)
            ):
                return [token]
        return []


class ReplyReader:
    """Reads replies with the service's knowledge of the game."""

    def __init__(self, seats: SeatReplies) -> None:
        self._seats = seats

    async def read(self, mail: ParsedMail, token: ReplyToken) -> ReadReply:
        """Read a mail from the owner of a token."""
        vocabulary = await self._seats.vocabulary(token)
        verbs, seat_names = vocabulary.verbs | POLICY_VERBS, vocabulary.names
        names = {
            word for text in (mail.sender_name, token.address.partition("@")[0]) for word in words_of(text)
        }
        vocabulary = replace(vocabulary, verbs=verbs, names=vocabulary.names | names)
        plain = _without_own_name(_with_show(mail.text), seat_names, verbs)
        text = split_reply(plain, verbs)
        readable = {line for line in text.candidates if _POLICY_LINE.fullmatch(line.casefold())}
        rest = [line for line in text.candidates if line not in readable]
        if rest:
            readable |= await self._seats.readable_lines(token, rest)
        return ReadReply(text, judge(text, readable, vocabulary), vocabulary)

    async def trial(
        self, token: ReplyToken, meant: Sequence[ReplyLine]
    ) -> tuple[tuple[str, ...], tuple[AcceptedLine, ...]] | None:
        """The lines of an unclear reply, and what they would do; None if they cannot all be played."""
        lines = tuple(line.text for line in meant)
        accepted = await self._seats.try_lines(token, lines) if lines else None
        return (lines, accepted) if accepted else None


def _with_show(text: str) -> str:
    """A text with `show from E11 northeast` in the place of `from E11 northeast`."""
    lines = text.splitlines()
    return "\n".join(f"show {line.strip()}" if _FROM_HEX.fullmatch(line) else line for line in lines)


def _without_own_name(text: str, names: Collection[str], verbs: Collection[str]) -> str:
    """A text without the writer's own name before lines: `Ann: pass`, as games are written down."""

    def spoken(line: str) -> str:
        speaker, _, rest = line.partition(":")
        is_own = bool(names) and set(words_of(speaker)) == set(names) and _SPEAKER.fullmatch(speaker)
        return rest.strip() if is_own and first_word(rest.strip()) in verbs else line

    return "\n".join(map(spoken, text.splitlines()))


def corrected_lines(played: PlayResult | None, lines: Sequence[ReplyLine]) -> tuple[ReplyLine, ...]:
    """The lines with the one that a rejected one can only mean; none where there is no such line."""
    if played is None or len(played.instead) != 1:
        return ()
    failed = played.result
    if not isinstance(failed, LineUnreadable | LineAmbiguous):
        return ()
    suggestion = played.instead[0].partition("#")[0].strip()
    return tuple(
        line._replace(text=suggestion) if index == failed.index else line for index, line in enumerate(lines)
    )


def suggestions(reply: ReadReply) -> tuple[str, ...]:
    """Legal lines that a reply without any may mean, else those that are legal."""
    unclear = [each.line.text for each in reply.parsed.unclear]
    near = [line for text in unclear if (line := nearest_line(normalize_line(text), reply.vocabulary, 0.5))]
    return tuple(dict.fromkeys(near)) or reply.vocabulary.legal_lines[:12]


def _lines(mail: ParsedMail) -> list[str]:
    return [normalize_line(line) for line in mail.text.splitlines()]
