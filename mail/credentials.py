"""Access tokens in place of passwords: what IMAP and SMTP ask for when they log in by XOAUTH2."""

from typing import Protocol


class TokenUnavailable(Exception):
    """There is no access token now; the message says why, as a clause. is_refused: waiting will not help."""

    def __init__(self, reason: str, is_refused: bool = False) -> None:
        super().__init__(reason)
        self.is_refused = is_refused


class AccessTokens(Protocol):
    """A source of OAuth 2.0 access tokens."""

    async def token(self) -> str:
        """A token that is valid for some minutes. Raises TokenUnavailable."""

    def forget(self) -> None:
        """A server has refused the last token: ask for a new one the next time."""
