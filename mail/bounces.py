"""What a refusal or a bounce says about an address: pure.

Only a refusal of the address itself counts against it. What a server has against us (relaying,
authentication, block lists, policy) is for the operator to mend; a delay says nothing; a full mailbox or
a broken server passes.

| class      | status (RFC 3463)            | what follows                                              |
|------------|------------------------------|-----------------------------------------------------------|
| `address`  | 5.1.x but 5.1.7, 5.1.8; 5.2.1 | counts; after two the person cannot be reached by email  |
| `operator` | 5.7.x, 5.1.7, 5.1.8          | nothing is counted; letters are held, the operator is told |
| `delayed`  | 4.x with a notice of delay   | nothing: the other server goes on trying                  |
| `soft`     | all others                   | nothing is counted; the letter is made anew later         |

The words of a refusal come before its status, because many servers answer 550 5.1.1 to a blocked sender.
"""

import re
from collections.abc import Sequence
from typing import Literal

BounceKind = Literal["address", "operator", "delayed", "soft", "arrived", "complaint"]

_OPERATOR = re.compile(
    r"relay(?:ing)?(?: access)? (?:denied|not permitted)|relaying|unable to relay"
    r"|authentication (?:required|failed)|not authenticated|must authenticate|authenticate first"
    r"|spamhaus|sorbs|barracuda|block ?list|black ?list|\bdnsbl\b|\brbl\b|blocked|listed at|reputation"
    r"|\bspf\b|\bdkim\b|\bdmarc\b|policy|spam|sender (?:address )?rejected|sender verif|rate limit"
    r"|too many messages|not allowed to send|banned|reverse (?:dns|hostname)|client host rejected|\bptr\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"(?:user|recipient|mailbox|address|account|alias|addressee)[ a-z<>@.'-]{0,60}"
    r"(?:unknown|not found|not exist|n't exist|unavailable|disabled|inactive|invalid|not known|no longer"
    r"|rejected)|(?:no such|unknown|invalid|unrouteable|unrouted|bad destination) "
    r"(?:user|recipient|mailbox|address|account|person)|no mailbox (?:here )?by that name"
    r"|does not have an? (?:\S+ )?account|not our customer|host (?:or domain name )?not found|user doesn't"
    r"|not a valid (?:user|mailbox)|empfänger (?:unbekannt|existiert nicht)|utilisateur inconnu",
    re.IGNORECASE,
)
_FULL = re.compile(
    r"quota|mailbox (?:is )?full|over ?quota|insufficient storage|out of storage", re.IGNORECASE
)
DELAYED = re.compile(
    r"action: ?delayed|delivery (?:status notification \(delay\)|(?:has been |is )?delayed|incomplete)"
    r"|will (?:keep|continue) (?:on )?try|will be retried|still being retried|message (?:is )?delayed"
    r"|this is a warning message only|warning: (?:message|could not send)|do not need to resend|verzögert",
    re.IGNORECASE,
)
_STATUS = re.compile(r"(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.])")
_CODE = re.compile(r"(?<![\d.])([45]\d\d)[ -]")
FAILURE_WORDS = re.compile(
    r"undeliver|not (?:be )?delivered|delivery (?:has )?fail|returned to sender|could not send"
    r"|permanent(?:ly)? (?:fatal )?error|mail delivery failed|failure notice|nicht zugestellt"
    r"|unzustellbar|non remis",
    re.IGNORECASE,
)


def kind_of_report(actions: Sequence[str], parts: Sequence[str]) -> BounceKind | None:
    """What the form of a report says before its words do. actions: of RFC 3464. parts: media types."""
    if "message/feedback-report" in parts:
        return "complaint"
    if "delayed" in actions:
        return "delayed"
    has_arrived = bool(actions) and set(actions) <= {"delivered", "relayed", "expanded"}
    return "arrived" if has_arrived or "message/disposition-notification" in parts else None


def classify(text: str, status: str = "") -> BounceKind:
    """The class of a refusal, by its words and its enhanced status code; `status` is looked for in the
    text.
    """
    text = text[:4_000]
    found = _STATUS.search(text)
    status = status or (found[1] if found else "")
    code = _CODE.search(text)
    if DELAYED.search(text):
        return "delayed"
    if status.startswith("5.7.") or status in {"5.1.7", "5.1.8"} or _OPERATOR.search(text):
        return "operator"
    if status.startswith("4") or (not status and code and code[1].startswith("4")) or _FULL.search(text):
        return "soft"
    if status.startswith("5.1.") or status == "5.2.1":
        return "address"
    if status:
        return "soft"
    return "address" if _ADDRESS.search(text) else "soft"


def reason_line(text: str) -> str:
    """The line of a bounce that says why, for people; empty for none."""
    lines = [" ".join(line.split())[:200] for line in text[:8_000].splitlines()]
    for pattern in (_STATUS, _CODE, _ADDRESS, _OPERATOR, FAILURE_WORDS):
        for line in lines:
            if pattern.search(line) and not line.casefold().startswith(
                ("status:", "received:", "message-id:")
            ):
                return line.removeprefix("Diagnostic-Code:").strip()
    return ""
