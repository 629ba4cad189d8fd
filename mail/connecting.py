"""What IMAP and SMTP share when they connect: access tokens in place of passwords, by XOAUTH2, and why a
server cannot be reached, in words for the operator.
"""

import os
import socket
import ssl
from dataclasses import dataclass, field
from typing import Literal, Protocol


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


@dataclass(frozen=True)
class MailAccount:
    """An IMAP or SMTP server to log in to. user: empty for no login, which only SMTP allows. security: `tls`
    from the first byte, `starttls` (required) or `plain`; for IMAP every value but `plain` is TLS from the
    first byte. tokens: to log in with (XOAUTH2) in place of the password.
    """

    host: str
    port: int
    user: str = ""
    password: str = field(default="", repr=False)
    security: Literal["tls", "starttls", "plain"] = "tls"
    context: ssl.SSLContext | None = field(default=None, repr=False)
    tokens: AccessTokens | None = field(default=None, repr=False)


def connection_fault(error: BaseException) -> str:
    """Why no connection to a server could be made, by the first cause of an error; empty if that says nothing
    of the connection."""
    while isinstance(error.__cause__, Exception):  # a cancellation is how a time-out came about, and no cause
        error = error.__cause__
    match error:
        case ssl.SSLCertVerificationError():
            return f"its certificate is not accepted: {error.verify_message}"
        case ssl.SSLError():
            return "it does not speak TLS on this port"
        case TimeoutError():
            return "it does not answer"
        case socket.gaierror():
            return "there is no such host"
        case OSError(errno=int(number)):
            return f"no connection: {os.strerror(number)}"
        case OSError():  # the addresses of the host failed for several reasons
            return f"no connection: {str(error) or 'it is ended at once'}"
    return ""
