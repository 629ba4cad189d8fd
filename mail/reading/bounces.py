"""What a refusal or a bounce says about an address: pure.

Only a refusal of the address itself counts against it. If a server objects to us (relaying,
authentication, block lists, policy), the operator has to repair that; a delay says nothing; a full mailbox or
a broken server passes.

| class      | status (RFC 3463)            | what follows                                              |
|------------|------------------------------|-----------------------------------------------------------|
| `address`  | 5.1.x but 5.1.7, 5.1.8; 5.2.1 | counts; after two the person cannot be reached by email  |
| `operator` | 5.7.x, 5.1.7, 5.1.8          | nothing is counted; emails are held, the operator is told |
| `delayed`  | 4.x with a notice of delay   | nothing: the other server goes on trying                  |
| `soft`     | all others                   | nothing is counted; the email is made anew later          |

The status decides. Words decide where it says little (5.0.0, none). A block list that is named beside the
status of an address says nothing of the address: many servers answer 550 5.1.1 to a blocked sender. A
bounce may quote our own email; that is not read (`above_the_quote`), for its headers speak of SPF and DKIM.
"""

import re
from collections.abc import Sequence
from typing import Literal

BounceKind = Literal["address", "operator", "delayed", "soft", "arrived", "complaint"]

_BLOCKED = re.compile(
    r"relay(?:ing)?(?: access)? (?:denied|not permitted)|relaying|(?:unable|cannot|can't) (?:to )?relay"
    r"|authentication (?:is )?(?:required|failed)|not authenticated|must authenticate|authenticate first"
    r"|spamhaus|sorbs|barracuda|block[ -]?list|black[ -]?list|\bdnsbl\b|\brbl\b|blocked|listed (?:at"
    r"|by)|(?<!not )listed in"
    r"|reputation|sender (?:address )?(?:rejected|denied|verif)|sending (?:ip|domain|mta)|rate limit|throttl"
    r"|too many (?:messages|connections)|not allowed to send|banned|reverse (?:dns|hostname)"
    r"|client host rejected|\bptr\b|(?:as|like|likely|be|is) (?:unsolicited|spam)|spam (?:message )?rejected",
    re.IGNORECASE,
)
_POLICY = re.compile(r"\bspf\b|\bdkim\b|\bdmarc\b|policy|policies|spam|unsolicited", re.IGNORECASE)
_TOO_FAST = re.compile(
    r"at a rate|too (?:quickly|fast)|rate limit|too many (?:messages|emails)", re.IGNORECASE
)
_ADDRESS = re.compile(
    r"(?:user|recipient|mailbox|address|account|alias|addressee|inbox)[ a-z<>@.'_0-9()\"-]{0,60}"
    r"(?:unknown|not found|not exist|n't exist|unavailable|disabled|inactive|invalid|not known|no longer"
    r"|rejected|not recogni[sz]ed|not listed|not local|suspended|deactivated|closed|not active|not valid)"
    r"|(?:no such|unknown|invalid|unrouteable|unrouted|bad destination|nonexistent|non-existent) "
    r"(?:local )?(?:user|recipient|mailbox|address|account|person|domain|alias)"
    r"|no mailbox (?:here )?by that name"
    r"|does not have an? (?:\S+ )?account|doesn't have an? (?:\S+ )?(?:\S+ )?account|not our customer"
    r"|(?:host|domain)(?: or domain)?(?: name)? (?:was )?(?:not found|unknown|not exist)"
    r"|unknown (?:host|domain)"
    r"|not a valid (?:user|mailbox|recipient|address)|is not (?:a )?(?:known|valid) (?:user"
    r"|recipient|mailbox)"
    r"|recipientnotfound|no one by that name|has left the company|mailbox is not (?:here|active)"
    r"|(?:empfänger|benutzer|postfach|adresse)[ a-zäöüß<>@.'-]{0,40}"
    r"(?:unbekannt|existiert nicht|nicht (?:gefunden|vorhanden|erreichbar|bekannt))"
    r"|unbekannter (?:empfänger|benutzer)"
    r"|utilisateur inconnu|destinataire inconnu|boîte (?:aux lettres )?(?:inconnue|introuvable)"
    r"|usuario desconocido|(?:buzón|dirección)[ a-záéíóú]{0,30}no (?:existe|se (?:ha )?encontr)"
    r"|utente sconosciuto|casella[ a-z]{0,30}inesistente|gebruiker onbekend|onbekende gebruiker"
    r"|usuário (?:desconhecido|inexistente)|nieznany użytkownik|пользователь не найден"
    r"|нет такого пользователя"
    r"|ユーザーが(?:見つかりません|存在しません)|用户不存在|收件人不存在",
    re.IGNORECASE,
)
_FULL = re.compile(
    r"quota|mailbox (?:is )?(?:too )?full|mailbox (?:has )?exceed|(?:in|out)sufficient (?:system )?storage"
    r"|out of (?:storage|space)|(?:over|exceed\w*)[ a-z]{0,30}(?:storage|mailbox"
    r"|disk)(?: size)?(?: limit| allocation)?"
    r"|postfach[ a-z]{0,20}voll|boîte[ a-zé]{0,30}pleine|buzón[ a-zá]{0,20}lleno|casella[ a-z]{0,20}piena",
    re.IGNORECASE,
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
    r"undeliver|not (?:be )?delivered|(?:n't|unable to|cannot(?: be)?) deliver|delivery (?:has )?fail"
    r"|failed (?:delivery|recipient)|delivery (?:failure|status notification \(failure\))"
    r"|returned (?:mail|to sender)"
    r"|could(?:n't| not) (?:be )?(?:send|sent|deliver|reach)|permanent(?:ly)? (?:fatal )?error|failure notice"
    r"|did(?:n't| not) reach|(?:was|is|been) rejected|nicht (?:zugestellt|übermittelt)|unzustellbar"
    r"|nicht zustellbar"
    r"|non (?:remis|distribu)|échec|no se (?:pudo|puede|ha podido) entregar|mensaje no entregado"
    r"|impossibile (?:recapitare|consegnare)|mancata consegna|onbestelbaar"
    r"|niet (?:worden )?(?:bezorgd|afgeleverd)"
    r"|não (?:foi possível|pôde ser) (?:entreg|envi)|nie (?:można|udało się) dostarczyć|niedostarcz"
    r"|kunde inte levereras"
    r"|nedoručiteln|kézbesíthetetlen|teslim edilemedi|недоставлен|не (?:удалось|может быть) достав"
    r"|配信(?:不能|できません)"
    r"|エラーメール|無法傳遞|无法投递|退信|배달되지 않",
    re.IGNORECASE,
)
_QUOTE_BEGINS = re.compile(
    r"(?i)-{2,}.{0,60}(?:original|returned|copy|below|unsent).{0,60}"
    r"|(?:-+ ?)?(?:original message headers?|original message follows|message headers? follows?"
    r"|(?:the )?(?:first lines of the )?original (?:message|mail)(?: headers)?(?: (?:was"
    r"|is))?(?: attached| follows)?"
    r"|ursprüngliche nachrichten(?:kopfzeilen|header)|en-têtes de message d'origine"
    r"|encabezados de mensajes originales|intestazioni (?:originali )?(?:del )?messaggio(?: originale)?"
    r"|oorspronkelijke berichtkoppen)\W*"
)
_QUOTED_HEADER = re.compile(
    r"(?i)(?:> ?)?(?:received|return-path|(?:arc-|x-google-)?dkim-signature|domainkey-signature|delivered-to"
    r"|(?:arc-)?authentication-results|received-spf|mime-version|x-[a-z0-9-]{2,40}|list-[a-z]{2,20}"
    r"|in-reply-to|references|content-type|auto-submitted): ?\S"
)


def kind_of_report(actions: Sequence[str], parts: Sequence[str]) -> BounceKind | None:
    """What the form of a report says before its words do. actions: of RFC 3464. parts: media types."""
    if "message/feedback-report" in parts:
        return "complaint"
    if "delayed" in actions:
        return "delayed"
    has_arrived = bool(actions) and set(actions) <= {"delivered", "relayed", "expanded"}
    return "arrived" if has_arrived or "message/disposition-notification" in parts else None


def above_the_quote(text: str) -> str:
    """What a bounce says itself: its text to where it begins to quote the email that comes back."""
    kept = []
    for line in text.splitlines():
        if _QUOTE_BEGINS.fullmatch(line.strip()) or _QUOTED_HEADER.match(line):
            break
        kept.append(line)
    return "\n".join(kept)


def classify(text: str, status: str = "") -> BounceKind:
    """The class of a refusal, by its enhanced status code and its words; `status` is looked for in the
    text. Of our own email the text has nothing.
    """
    text = text[:4_000]
    found = _STATUS.search(text)
    status = status or (found[1] if found else "")
    code = _CODE.search(text)
    is_passing = status.startswith("4") or (not status and code is not None and code[1].startswith("4"))
    if not status.startswith("5") and DELAYED.search(text):
        return "delayed"
    if status[1:4] == ".7." or status in {"5.1.7", "5.1.8"}:
        return "operator"
    if status == "5.2.1" and _TOO_FAST.search(text):
        return "soft"
    if _BLOCKED.search(text):
        return "operator"
    if is_passing or status in {"5.2.2", "5.2.3", "5.3.4"} or _FULL.search(text):
        return "soft"
    if status.startswith("5.1.") or status == "5.2.1" or _ADDRESS.search(text):
        return "address"
    return "operator" if _POLICY.search(text) else "soft"


_DIAGNOSTIC_TYPE = re.compile(r"(?:diagnostic-code: ?)?(?:(?:smtp|x-[\w-]{1,20}) ?; ?)?", re.IGNORECASE)


def reason_line(text: str) -> str:
    """The line of a bounce that says why, for people; empty for none."""
    lines = [" ".join(line.split())[:200] for line in text[:8_000].splitlines()]
    for pattern in (_STATUS, _CODE, _ADDRESS, _BLOCKED, FAILURE_WORDS):
        for line in lines:
            if pattern.search(line) and not line.casefold().startswith(
                ("status:", "received:", "message-id:")
            ):
                return _DIAGNOSTIC_TYPE.sub("", line, count=1)
    return ""
