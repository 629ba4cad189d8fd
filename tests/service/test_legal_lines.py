"""Legal lines for mail: few, readable, each of them legal, and none left out without a mention."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine
from bot.position import legal_lines
from bot.position.pending import engine_seat
from engine import Choice
from tests.end_to_end.test_whole_games import own_game

GAMES = Path(__file__).parent.parent / "games"


def lay(hex: str, tile: str, turn: int) -> Choice:
    return Choice(f"lay {tile} {hex} {turn}", "", ("lay", hex, f"#{tile}", f"rotation {turn}"))


def test_few_lines_are_listed_as_they_are() -> None:
    choices = [
        Choice("pass", "Pass", ("done",)),
        Choice("bid DH 75", "", ("bid", "DH"), range(75, 801)),
        Choice("bid MH 5", "", ("bid", "MH"), range(5, 6)),
    ]
    assert legal_lines.copyable_lines(choices) == ("pass", "bid DH 75   # or more, up to $800", "bid MH 5")


def test_answers_to_several_offers_say_to_which() -> None:
    choices = [
        Choice("accept 1", "Accept: the DH from Cid to Ann for $30", ("Accept",)),
        Choice("decline 2", "Withdraw the offer: the DH from Ann to Cid for $40", ("Withdraw",)),
        Choice("decline", "Decline: the DH from Cid to Ann for $30", ("Decline",)),
    ]
    assert legal_lines.copyable_lines(choices) == (
        "accept 1   # the DH from Cid to Ann for $30",
        "decline 2   # withdraw the offer: the DH from Ann to Cid for $40",
        "decline",
    )


def test_many_lines_are_merged_by_hex() -> None:
    choices = [lay(f"B{n}", tile, turn) for n in range(2, 10) for tile in ("7", f"{n}") for turn in (0, 3)]
    lines = legal_lines.copyable_lines([*choices, Choice("pass", "Skip", ("done",))])
    assert lines[0] == "lay 7 B2 0   # #7 rotation 0 3; #2 rotation 0 3"
    assert lines[-1] == "pass" and len(lines) == 9


def test_similar_groups_are_merged() -> None:
    choices = [lay(f"B{n}", tile, turn) for n in range(2, 9) for tile in ("7", "8") for turn in (0, 3)]
    lines = legal_lines.copyable_lines([*choices, lay("C3", "9", 1)])
    assert lines == (
        "lay 7 B2 0   # B2, B3, B4, B5, B6, B7, B8; each #7 rotation 0 3; #8 rotation 0 3",
        "lay 9 C3 1",
    )


def test_few_choices_of_a_verb_stand_alone_among_many_others() -> None:
    """So an email says of each share what it costs, and of each sale where the price goes."""
    lays = [lay(f"B{n}", "7", turn) for n in range(2, 15) for turn in (0, 3)]
    shares = [Choice(f"buy {c} from ipo", "", ("buy", c, "ipo")) for c in ("PRR", "NYC")]
    sales = [Choice(f"sell {n} B&O", "", ("sell", "B&O", f"{n} shares")) for n in (1, 2)]
    lines = legal_lines.copyable_lines([*lays, *shares, *sales])
    assert lines[1:] == ("buy PRR from ipo", "buy NYC from ipo", "sell 1 B&O", "sell 2 B&O")
    loans = [Choice(f"loan {n}", "", ("loan", f"{n} loans")) for n in range(1, 10)]
    assert legal_lines.copyable_lines([*lays, *loans])[1:] == ("loan 1   # or more, up to 9",)


def test_merged_offers_name_the_most_that_each_player_can_pay() -> None:
    offers = [
        Choice(f"sell private {p} to {name} for 0", "", ("private", p, name), range(most + 1))
        for p in (f"P{n}" for n in range(13))
        for name, most in (("Bob", 5), ("Cid", 76))
    ]
    (line,) = legal_lines.copyable_lines(offers)
    assert line.endswith("; each Bob, Cid; $0 or more, up to $5 or $76")
    (line,) = legal_lines.copyable_lines([each for each in offers if each.path[2] == "Bob"] * 2)
    assert line.endswith("P11, P12; $0 or more, up to $5")


def test_merged_groups_share_their_amounts() -> None:
    starts = [
        Choice(f"start {c} {h} 100", "", ("start", c, f"{h} Town"), range(100, 401, 5))
        for c in ("WT", "SR")
        for h in (f"B{n}" for n in range(13))
    ]
    (line,) = legal_lines.copyable_lines(starts)
    assert line.startswith("start WT B0 100   # WT, SR; each B0 Town, B1 Town")
    assert line.endswith("; $100 or more, up to $400 in steps of $5")
    bids = [Choice(f"bid P{n} 5", "", ("bid", f"P{n}"), range(5, 100, 5)) for n in range(30)]
    lines = legal_lines.copyable_lines(bids)
    assert lines[0] == "bid P0 5   # or more, up to $95 in steps of $5" and len(lines) == 30


def test_too_many_lines_are_one_for_each_kind() -> None:
    choices = [lay(f"B{n}", f"{n}", 0) for n in range(100)]
    lines = legal_lines.copyable_lines([*choices, Choice("pass", "Skip", ("done",))])
    assert lines == ("lay 0 B0 0   # and 99 more like it", "pass")


def test_labels_of_unequal_length() -> None:
    choices = [Choice(f"buy X{n} from ipo", "", ("buy", f"X{n}", "ipo")) for n in range(30)]
    choices += [Choice(f"buy {n} Y from pool", "", ("buy", "Y", "pool", f"{n} shares")) for n in (2, 3)]
    choices += [Choice("buy Y from ipo", "", ("buy", "Y", "ipo")), Choice("buy Z", "", ("buy", "Z"))]
    choices += [Choice("buy 2 Z", "", ("buy", "Z", "2 shares"))]
    lines = legal_lines.copyable_lines(choices)
    assert "buy 2 Y from pool   # pool 2 shares, 3 shares; ipo" in lines
    assert "buy Z   # and 1 more like it" in lines


@pytest.mark.parametrize("path", sorted(GAMES.glob("[23]p*.18xx"))[:2], ids=lambda path: path.stem)
def test_the_lines_for_every_decision_of_a_game_are_legal(path: Path) -> None:
    game = own_game(path)
    state = engine.new_game(game.title, game.names, game.options).state
    longest = 0
    for number, move in enumerate(game.lines):
        if number % 3 == 0:
            choices = engine.choices(state, engine_seat(move.seat))
            lines = legal_lines.copyable_lines(choices)
            longest = max(longest, len(choices))
            assert lines and len(lines) <= legal_lines.MAX_LINES and max(map(len, lines)) <= 700
            offered = {choice.line for choice in choices}
            assert {line.partition("   # ")[0] for line in lines} <= offered
            assert {line.split()[0] for line in lines} == {line.split()[0] for line in offered}
        state = engine.play(state, f"p{move.seat}", engine.parse(state, f"p{move.seat}", move.line)).state
    assert longest > legal_lines.MAX_UNGROUPED
