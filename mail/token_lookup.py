"""Which of our emails a mail answers: the tokens that it carries.

With sub-addressing, the token is in the address that the mail was sent to; without it in the message that it
answers, by its Message-ID.

A provider without sub-addressing delivers one address only. Then a token stands as `code-<token>` in three
places, of which mail programs keep at least one: in the display part of the Reply-To, in the last lines of
our email, which a reply quotes, and in the Message-ID. What the sender wrote above the quoted email comes
first, then the email that is answered. A display part may be an older one that an address book has kept, so
where it and the quoted email mean different seats, the mail is ambiguous, and nothing is played. A quoted
token counts for its owner only: another player may have written theirs into what is quoted.
"""

from mail.port import People, ReplyToken
from mail.reading.line_text import normalize_line
from mail.reading.parser import ParsedMail
from mail.reading.quotes import own_text
from mail.reply_address import ServiceAddress, find_codes, hash_token

MAX_TOKENS = 10  # that are looked up for one mail


class TokenLookup:
    """Finds the valid tokens of a mail."""

    def __init__(self, address: ServiceAddress, people: People) -> None:
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


def _lines(mail: ParsedMail) -> list[str]:
    return [normalize_line(line) for line in mail.text.splitlines()]
