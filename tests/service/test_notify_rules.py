"""Who is told where, when and with a ping: the rules of `notify`, one line for each case."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from bot.hub.info import TableInfo
from bot.hub.notifications import notify
from bot.hub.notifications.notify import RULES, Recipient, routes
from bot.hub.notifications.preferences import PersonalChannel, PersonSettings, TellSettings

DAY = datetime(2026, 3, 2, 15, tzinfo=UTC)
NIGHT = datetime(2026, 3, 2, 23, tzinfo=UTC)
BOTH: tuple[PersonalChannel, ...] = ("thread", "mail")
IN_THREAD: tuple[PersonalChannel, ...] = ("thread",)
BY_MAIL: tuple[PersonalChannel, ...] = ("mail",)


def ways(
    kind: str,
    tell: tuple[PersonalChannel, ...] | None,
    now: datetime = DAY,
    *,
    thread: bool = True,
    digest: bool = False,
    has_discord: bool = True,
) -> str:
    """The routes to Ann, who sleeps from ten to seven, as `table! mail@07`: `!` for a ping, `@` the hour."""
    wishes = TellSettings(channels=tell, digest=digest)
    settings = PersonSettings(zone="UTC", quiet="22:00-07:00", tell=wishes)
    ann = Recipient(1, 0, "11" if has_discord else None, "ann@example.org", settings)
    table = TableInfo(
        5, "KQX", "Friday", "1830", (), "running", 1, {"channel": 1, "thread": 9} if thread else {}, ()
    )
    return " ".join(
        route.channel
        + ("!" if route.channel == "table" and route.ping else "")
        + (f"@{route.due:%H}" if route.due else "")
        for route in routes(kind, table, ann, now)
    )


@pytest.mark.parametrize(
    ("kind", "chosen", "by_mail_alone", "at_night", "with_digest", "without_thread"),
    [
        ("turn", "table! mail", "table mail", "table mail@07", "table", "user mail"),
        ("vote", "table! mail", "table mail", "table mail@07", "table! mail", "user mail"),
        ("news", "mail", "mail", "mail@07", "", "user mail"),
        ("started", "mail", "mail", "mail@07", "mail", "user mail"),
        ("over", "mail", "mail", "mail@07", "mail", "user mail"),
        ("reminder", "table! mail", "mail", "mail@07", "table! mail", "user mail"),
        ("time_up", "table! mail", "mail", "mail@07", "table! mail", "user mail"),
        ("next", "table! mail", "mail", "mail@07", "table! mail", "user mail"),
        ("vote_reminder", "table! mail", "mail", "mail@07", "", "user mail"),
        ("order", "user mail", "mail", "user@07 mail@07", "user mail", "user mail"),
        ("deputy", "user mail", "user mail", "user@07 mail@07", "user mail", "user mail"),
        ("a feature's own", "user mail", "user mail", "user@07 mail@07", "user mail", "user mail"),
        ("invited", "user mail", "user mail", "user mail", "user mail", "user mail"),
        ("seat", "user mail", "user mail", "user mail", "user mail", "user mail"),
        ("answered", "user mail", "user mail", "user mail", "user mail", "user mail"),
        ("refresh", "", "", "", "", ""),
        ("lobby", "", "", "", "", ""),
        ("names", "", "", "", "", ""),
    ],
)
def test_each_kind_has_its_ways(
    kind: str, chosen: str, by_mail_alone: str, at_night: str, with_digest: str, without_thread: str
) -> None:
    assert ways(kind, BOTH) == chosen
    assert ways(kind, BY_MAIL) == by_mail_alone
    assert ways(kind, BOTH, NIGHT) == at_night
    assert ways(kind, BOTH, digest=True) == with_digest
    assert ways(kind, BOTH, thread=False) == without_thread


def test_a_person_who_has_chosen_nothing() -> None:
    assert ways("turn", None) == "table! mail"
    assert ways("turn", None, thread=False) == "user mail"


def test_where_no_chosen_channel_works_any_that_does_is_used() -> None:
    assert ways("turn", IN_THREAD, has_discord=False) == "table mail"
    assert ways("order", IN_THREAD, has_discord=False) == "mail"


def test_everyone_is_told_once_where_the_table_is_shown() -> None:
    shown = TableInfo(5, "KQX", "Friday", "1830", (), "running", 1, {"thread": 9}, ())
    for kind, rule in RULES.items():
        found = [route.channel for route in routes(kind, shown, None, DAY)]
        assert found == (["table"] if rule.thread in ("card", "once") else []), kind


def test_the_table_of_rules_names_each_kind_once() -> None:
    cells = re.findall(r"^\| ([a-z_, ]+) \|", str(notify.__doc__), re.M)
    named = [kind for cell in cells if cell != "kind" for kind in cell.split(", ")]
    assert sorted(named) == sorted(RULES)
