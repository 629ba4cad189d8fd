"""Games go out as files of the site, and come in again as the same games."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import engine
from bot.simulation.simulate import simulate_game
from engine.core.actions import Pass
from engine.core.events import PresidentNamed, TokenPlaced
from engine.core.state import copy_state
from engine.game_text import GameHistory, HistoryLine
from engine.kernel import game_of, new_game, play
from engine.operating.stations import UNDECIDED_CITY
from engine.site_18xx.codecs import encode_action
from engine.site_18xx.export import SiteExporter, SiteExportError, export_game
from engine.site_18xx.game_file import active_actions, read_site_file
from engine.site_18xx.names import site_names_of
from engine.site_18xx.numbering import PieceNumbering
from engine.site_18xx.replay import SiteReplay
from engine.title import SITE_CONVENTIONS
from tests.site_18xx.recorded_games import recorded_files, replay
from tests.t1830.scenarios import run_scenario as holds_1830
from tests.t1830.test_conventions import ERIE
from tests.t1870.scenarios import run_scenario
from tests.t1870.test_05_protection import CLOSES

RECORDED = pytest.mark.skipif(not recorded_files(), reason="the recorded games are not beside this checkout")
SILENT = ("message", "log")
ENVELOPE = {"id", "created_at", "user", "auto_actions", "original_id", "skip"}
NEWER = {"variant", "extra_revenue", "subsidy", "tokener"}
"""Fields that not all recorded files have; the site reads nothing from them."""
FREE = {"slot": "place_token", "train": "", "exchange": "", "routes": "", "loan": ""}
"""Fields that may say the same otherwise: the place of a token that is put down, which the site does not
read (it reads that of one that is removed); one of a company's equal trains; a route in the other
direction; a loan, of which the site takes the next whatever is written, as in the games that nobody
has played."""


def played(path: Path) -> SiteReplay:
    game = replay(path)
    for _ in game.run():
        pass
    return game


def telling(game: SiteReplay) -> GameHistory:
    return GameHistory(game.start, tuple(HistoryLine(s.seat, s.line, s.events) for s in game.lines))


def again(file: dict[str, Any]) -> SiteReplay:
    game = SiteReplay(read_site_file(json.dumps(file).encode()))
    for _ in game.run():
        pass
    return game


def recorded_actions(path: Path, game: SiteReplay) -> Iterator[dict[str, Any]]:
    """The recorded actions that count, the automatic ones among them, players by their places."""
    raw = {a["id"]: a for a in json.loads(gzip.decompress(path.read_bytes()))["actions"]}
    for action in active_actions(game.file.actions):
        for each in (raw[action.id], *raw[action.id].get("auto_actions", ())):
            if each["type"] in SILENT or each["type"].startswith("program_"):
                continue
            if each["entity_type"] == "player":
                each["entity"] = game.player_keys.index(str(each["entity"])) + 1
            yield each


def same_position(a: engine.State, b: engine.State) -> None:
    """All that counts is the same; an answer left beforehand is not told to the site."""
    for field in a.__struct_fields__:
        if field not in ("players", "question", "offered", "standing"):
            assert getattr(a, field) == getattr(b, field), field


@RECORDED
@pytest.mark.parametrize(
    "path", recorded_files(), ids=lambda p: f"{p.parent.name}-{p.name.removesuffix('.json.gz')}"
)
def test_a_recorded_game_comes_out_as_it_went_in(path: Path) -> None:
    """Action by action and field by field, and as the same game when it is read again. What the site finds
    by itself stands in the entry of the action that has brought it about."""
    game = played(path)
    file = export_game(telling(game))
    expected, told = list(recorded_actions(path, game)), file["actions"]
    assert all(action["type"] != "destination_connection" for action in told)
    flat = [each for action in told for each in (action, *action.get("auto_actions", ()))]
    for mine, theirs in zip(flat, expected, strict=True):
        same_action(mine, theirs)
        if path.name.startswith("played-"):
            assert mine.get("loan") == theirs.get("loan")
    back = again(file)
    assert [w.partition(": ")[2] for w in back.warnings] == [
        w.partition(": ")[2] for w in game.warnings if w.endswith("as recorded")
    ]
    same_position(back.state, game.state)
    scores = game.file.result or {}
    assert sorted(file.get("result", {}).values()) == sorted(scores.values() if game.state.game_over else ())
    if path in recorded_files()[::4]:
        assert export_game(telling(back))["actions"] == told


def same_action(mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Nothing is said otherwise than it was recorded."""
    kind = theirs["type"]
    assert mine["type"] == kind
    assert mine.keys() ^ theirs.keys() <= ENVELOPE | NEWER
    for key in (theirs.keys() & mine.keys()) - ENVELOPE:
        if FREE.get(key) not in ("", kind):
            assert mine[key] == theirs[key], (theirs.get("id"), key)
    for key in {"train", "exchange"} & theirs.keys():
        assert mine[key].rpartition("-")[0] == theirs[key].rpartition("-")[0]
    if kind == "run_routes":
        assert _runs(mine, theirs) == _runs(theirs, theirs)


def _runs(action: dict[str, Any], recorded: dict[str, Any]) -> list[tuple[object, ...]]:
    """What each kind of train ran for, and by which hexes: what all routes that are recorded say."""
    said = set.intersection(*(set(route) for route in recorded["routes"])) if recorded["routes"] else set()
    return sorted(
        (
            route["train"].rpartition("-")[0],
            _track(route["connections"]),
            *(sorted(route[key]) for key in ("hexes", "nodes") if key in said),
            *(route[key] for key in ("revenue",) if key in said),
        )
        for route in action["routes"]
    )


def _track(hops: list[list[str]]) -> list[list[str]]:
    """The hops of a route in the direction that comes first in the alphabet."""
    ahead = [list(hop) for hop in hops]
    if len(ahead) > 1 and ahead[0][-1] not in (ahead[1][0], ahead[1][-1]):
        ahead[0].reverse()
    for before, hop in pairwise(ahead):
        if hop[0] != before[-1]:
            hop.reverse()
    return min(ahead, [hop[::-1] for hop in reversed(ahead)])


def said(options: tuple[str, ...], *lines: tuple[int, str], title: str = "1830") -> GameHistory:
    """A game of three, line by line."""
    start = state = new_game(title, ("Ann", "Bob", "Cid"), options).state
    told: list[HistoryLine] = []
    for number, line in lines:
        seat = f"p{number}"
        action = engine.parse(state, seat, line)
        full = engine.format_action(state, action)
        state, events = play(state, seat, action)
        told.append(HistoryLine(seat, full, events, 1_700_000_000 + len(told)))
    return GameHistory(start, tuple(told))


OPENING = (
    (0, "buy SV"), (1, "buy CS"), (2, "buy DH"), (0, "buy MH"), (1, "buy CA"), (2, "buy BO"),
    (2, "par BO 67"),
)  # fmt: skip


def test_each_action_is_the_players_or_the_companys_with_its_time() -> None:
    actions = export_game(said((SITE_CONVENTIONS,), (0, "bid DH 75"), (1, "pass")))["actions"]
    assert actions == [
        {"type": "bid", "entity": 1, "entity_type": "player", "id": 1, "created_at": 1_700_000_000,
         "company": "DH", "price": 75},
        {"type": "pass", "entity": 2, "entity_type": "player", "id": 2, "created_at": 1_700_000_001},
    ]  # fmt: skip


def test_a_turn_in_which_nothing_can_be_done_goes_out_as_a_remark() -> None:
    """The site has begun it before it closes a company, takes no pass in it, and goes on with a remark."""
    g = game_of(run_scenario(CLOSES + "Bob: sell 2 MP\nBob: done\n= turn Cid", options=(SITE_CONVENTIONS,)))
    names = site_names_of("1870")
    [remark] = encode_action(g, names, PieceNumbering(names, g.title, g.title.components.tiles), "p2", Pass())
    assert {k: remark[k] for k in remark if k != "message"} == {
        "type": "message", "entity": 3, "entity_type": "player",
    }  # fmt: skip
    players = [{"id": n, "name": f"P{n}"} for n in (1, 2, 3)]
    file = {"title": "1870", "players": players, "actions": [remark | {"id": 1}]}
    game = SiteReplay(read_site_file(json.dumps(file).encode()))
    game.game, game.state = g, g.state
    assert [action.type for action in game.run()] == ["message"]
    assert engine.decision(game.state).asked == ("p0",)


def test_a_company_that_closes_while_presidents_are_asked_connects_to_nothing() -> None:
    """Its turn has ended before, and prices are settled after it has closed."""
    exporter = SiteExporter(new_game("1870", ("Ann", "Bob"), (SITE_CONVENTIONS,)).state)
    exporter.actions.append({"type": "pass"})
    exporter._ended_turn = "MP"
    exporter.site_game.company("MP").closed = True
    exporter._write_turn_end([])
    assert exporter.actions == [{"type": "pass"}]


def test_a_price_may_be_said_after_the_privates_that_follow_are_sold_there() -> None:
    bids = (0, "buy GRSC"), (1, "bid Katy 165"), (2, "buy MRBC"), (0, "buy SCC"), (1, "buy GSC")
    file = export_game(said((), *bids, (2, "buy Frisco"), (2, "par SLSF 100"), title="1870"))
    assert [action["type"] for action in file["actions"]] == ["bid"] * 6 + ["par"]
    assert again(file).state.private_owners["Katy"] == "p1"


def test_consent_is_not_recorded_and_a_declined_offer_leaves_no_trace() -> None:
    lines = [*OPENING, *[(s, "pass") for s in (0, 1, 2)] * 1]
    game = said((SITE_CONVENTIONS,), *lines)
    state = game.state_after(len(game.lines))
    seat = int(engine.decision(state).asked[0][1:])
    owner = int(state.private_owners["SV"][1:])
    if owner == seat:
        lines.append((seat, "pass"))
        seat = (seat + 1) % 3
    name = ("Ann", "Bob", "Cid")[owner]
    asks = (seat, f"buy private SV from {name} for 7")
    lines += [asks, (owner, "decline"), asks, (owner, "accept")]
    actions = export_game(said((SITE_CONVENTIONS,), *lines))["actions"]
    assert actions[-1]["type"] == "buy_company" and actions[-1]["price"] == 7
    assert sum(a["type"] == "buy_company" for a in actions) == 1


def test_a_game_of_the_rulebook_goes_out_where_nothing_in_it_differs() -> None:
    game = said((), *OPENING)
    back = again(export_game(game))
    assert back.state.cash == game.state_after(len(game.lines)).cash


def test_a_home_that_is_chosen_before_its_tile_is_told_once_the_site_asks() -> None:
    """1830 §19.1: by the book the president chooses in the first turn, there whoever lays the tile."""
    exporter = SiteExporter(new_game("1830", ("Ann", "Bob", "Cid"), ()).state)
    state = holds_1830(ERIE + "= turn Ann Erie")
    exporter.our_state = copy_state(state)
    exporter.site_game = game_of(holds_1830(ERIE + "= turn Ann Erie", options=(SITE_CONVENTIONS,)))
    exporter.numbering.update([TokenPlaced("Erie", "E11", UNDECIDED_CITY)])
    for line in ("home Erie E11.1", "lay 59 E11 3", "buy train 3"):
        played = play(state, "p0", engine.parse(state, "p0", line))
        exporter.add_line(HistoryLine("p0", line, played.events))
        state = played.state
    told = [(a["type"], a["entity"], a.get("city")) for a in exporter.actions]
    assert told == [
        ("lay_tile", "ERIE", None),
        ("place_token", "ERIE", "59-0-1"),
        ("buy_train", "ERIE", None),
    ]
    exporter.build_file()


def test_the_first_move_without_a_counterpart_is_named() -> None:
    game = said((), *OPENING, *[(s, "pass") for s in (0, 1, 2)])
    state = game.state_after(len(game.lines))
    seat = int(engine.decision(state).asked[0][1:])
    owner = int(state.private_owners["SV"][1:])
    lines = [*OPENING, *[(s, "pass") for s in (0, 1, 2)]]
    while owner != seat:
        lines.append((seat, "pass"))
        seat = (seat + 1) % 3
    other = ("Ann", "Bob", "Cid")[(seat + 1) % 3]
    lines += [(seat, f"sell private SV to {other} for 3"), ((seat + 1) % 3, "accept")]
    with pytest.raises(SiteExportError) as wrong:
        export_game(said((), *lines))
    assert wrong.value.move_number == len(lines)
    assert str(wrong.value).startswith(f"Move {len(lines)} ({other}: accept) has no counterpart")


def test_a_position_that_was_set_up_is_no_game_of_the_site() -> None:
    start = new_game("1830", ("Ann", "Bob", "Cid"), (SITE_CONVENTIONS,)).state
    start.cash["p0"] += 1
    with pytest.raises(SiteExportError, match="does not begin as a game begins"):
        export_game(GameHistory(start, ()))


def test_a_title_that_the_site_does_not_play_is_refused() -> None:
    start = new_game("1851", ("Ann", "Bob", "Cid"), ()).state
    with pytest.raises(SiteExportError, match="1851 is not played there"):
        export_game(GameHistory(start, ()))


def test_numbered_certificates_lie_where_the_position_has_them() -> None:
    """Also when half a president's certificate is sold, and when presidencies pass on."""
    halves = changes = 0
    for title, seed in (("1830", 3), ("1830", 9), ("1830", 14), ("1870", 2)):
        game = simulate_game(title, 6, seed, (SITE_CONVENTIONS,))
        exporter = SiteExporter(game.start)
        for told in game.history_lines:
            exporter.add_line(told)
            changes += any(isinstance(e, PresidentNamed) for e in told.events)
            for company, co in exporter.site_game.state.companies.items():
                if co.closed:
                    continue
                held = exporter.numbering.certificates.holders(company)
                assert {owner: sum(s.values()) for owner, s in held.items()} == co.shares
                if co.president:
                    assert next(iter(sorted(held[co.president]))).endswith("_0")
        for action in exporter.build_file()["actions"]:
            named = sum(20 if share.endswith("_0") else 10 for share in action.get("shares", ()))
            halves += action["type"] == "sell_shares" and action["percent"] == named - 10
    assert halves and changes > 20
