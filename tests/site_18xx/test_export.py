"""Games are exported as files of 18xx.games and imported again as the same games."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import engine
from bot.tools.simulation.simulate import PLAYER_NAMES, simulate_game
from engine.core.actions import Action, Merge, Par, Pass, PayDividend, TradePrivate
from engine.core.events import TokenPlaced, TrainMoved
from engine.core.reasons import TrainReason
from engine.core.state import copy_state
from engine.game_text import GameHistory, HistoryLine
from engine.kernel import game_of, new_game, play, play_in_place
from engine.operating.stations import UNDECIDED_CITY
from engine.site_18xx.codec_registry import encode_action
from engine.site_18xx.differences import other_turn, refusal_on_site
from engine.site_18xx.export import SiteExporter, SiteExportError, export_game
from engine.site_18xx.file_title import file_game
from engine.site_18xx.game_file import active_actions, read_site_file
from engine.site_18xx.names import site_names_of
from engine.site_18xx.piece_numbering import PieceNumbering
from engine.site_18xx.replay import SiteReplay
from engine.title import SITE_CONVENTIONS
from tests.game_text.histories import end_of
from tests.site_18xx.recorded_games import branch_files, replay_file
from tests.t1817.scenarios import run_scenario as run_1817_scenario
from tests.t1817.test_07_acquisitions import sale
from tests.t1817.test_07_conversions_and_mergers import SMALL
from tests.t1830.scenarios import run_scenario as run_1830_scenario
from tests.t1830.test_conventions import ERIE
from tests.t1870.scenarios import run_scenario
from tests.t1870.test_05_protection import CLOSES

SILENT = ("message", "log")
ENVELOPE = {"id", "created_at", "user", "auto_actions", "original_id", "skip"}
NEWER = {"variant", "extra_revenue", "subsidy", "tokener"}
"""Fields that not all recorded files have; the site ignores them."""
FREE = {"slot": "place_token", "train": "", "exchange": "", "routes": "", "loan": ""}
"""Fields with several equivalent values (for that type of action, or for all): the slot of a placed token,
which the site ignores (it reads that of a removed one); which of a company's equal trains; a route in the
other direction; a loan, since the site takes the next one whatever the file says."""


def recorded_actions(path: Path, game: SiteReplay) -> Iterator[dict[str, Any]]:
    """The recorded actions in effect, automatic ones included, with players by their seats from 1."""
    raw = {a["id"]: a for a in json.loads(gzip.decompress(path.read_bytes()))["actions"]}
    for action in active_actions(game.file.actions):
        for each in (raw[action.id], *raw[action.id].get("auto_actions", ())):
            if each["type"] in SILENT or each["type"].startswith("program_"):
                continue
            if each["entity_type"] == "player":
                each["entity"] = game.player_keys.index(str(each["entity"])) + 1
            yield each


@pytest.mark.skipif(not branch_files(), reason="the branches are not beside this checkout")
@pytest.mark.parametrize("path", [p for p in branch_files() if "8113" in p.name], ids=lambda p: p.name)
def test_a_branch_comes_out_as_it_went_in(path: Path) -> None:
    """Also half a president's certificate that is bought back (1870 §5.9.7). Its runs are without track."""
    game = replay_file(gzip.decompress(path.read_bytes()))
    exported = export_game(game.history)["actions"]
    flat = [each for action in exported for each in (action, *action.get("auto_actions", ()))]
    for exported_action, recorded_action in zip(flat, recorded_actions(path, game), strict=True):
        if recorded_action["type"] != "run_routes":
            same_action(exported_action, recorded_action)


def same_action(exported_action: dict[str, Any], recorded_action: dict[str, Any]) -> None:
    """An exported action has the same meaning as the recorded one."""
    kind = recorded_action["type"]
    assert exported_action["type"] == kind
    assert exported_action.keys() ^ recorded_action.keys() <= ENVELOPE | NEWER
    for key in (recorded_action.keys() & exported_action.keys()) - ENVELOPE:
        if FREE.get(key) not in ("", kind):
            assert exported_action[key] == recorded_action[key], (recorded_action.get("id"), key)
    for key in {"train", "exchange"} & recorded_action.keys():
        assert exported_action[key].rpartition("-")[0] == recorded_action[key].rpartition("-")[0]
    if kind == "run_routes":
        assert _runs(exported_action, recorded_action) == _runs(recorded_action, recorded_action)


def _runs(action: dict[str, Any], recorded: dict[str, Any]) -> list[tuple[object, ...]]:
    """By type of train the track of its route, and whichever other fields all recorded routes have."""
    set_fields = [{key for key, value in r.items() if value is not None} for r in recorded["routes"]]
    fields = set.intersection(*set_fields) if set_fields else set()
    return sorted(
        (
            route["train"].rpartition("-")[0],
            _track(route["connections"]),
            *(sorted(route[key]) for key in ("hexes", "nodes") if key in fields),
            *(route[key] for key in ("revenue",) if key in fields),
        )
        for route in action["routes"]
    )


def _track(hops: list[list[str]]) -> list[list[str]]:
    """The hops of a route in the direction that sorts first."""
    ahead = [list(hop) for hop in hops]
    if len(ahead) > 1 and ahead[0][-1] not in (ahead[1][0], ahead[1][-1]):
        ahead[0].reverse()
    for before, hop in pairwise(ahead):
        if hop[0] != before[-1]:
            hop.reverse()
    return min(ahead, [hop[::-1] for hop in reversed(ahead)])


def play_lines(options: tuple[str, ...], *lines: tuple[int, str], title: str = "1830") -> GameHistory:
    """A game of Ann, Bob and Cid (0, 1, 2), line by line."""
    start = state = new_game(title, ("Ann", "Bob", "Cid"), options).state
    history: list[HistoryLine] = []
    for number, line in lines:
        seat = f"p{number}"
        action = engine.parse(state, seat, line)
        full = engine.format_action(state, action)
        state, events = play(state, seat, action)
        history.append(HistoryLine(seat, full, events, 1_700_000_000 + len(history)))
    return GameHistory(start, tuple(history))


OPENING = (
    (0, "buy SV"), (1, "buy CS"), (2, "buy DH"), (0, "buy MH"), (1, "buy CA"), (2, "buy BO"),
    (2, "par BO 67"),
)  # fmt: skip


def test_each_action_is_the_players_or_the_companys_with_its_time() -> None:
    actions = export_game(play_lines((SITE_CONVENTIONS,), (0, "bid DH 75"), (1, "pass")))["actions"]
    assert actions == [
        {"type": "bid", "entity": 1, "entity_type": "player", "id": 1, "created_at": 1_700_000_000,
         "company": "DH", "price": 75},
        {"type": "pass", "entity": 2, "entity_type": "player", "id": 2, "created_at": 1_700_000_001},
    ]  # fmt: skip


def test_a_turn_in_which_nothing_can_be_done_is_exported_as_a_message() -> None:
    """The site starts the turn before it closes a company, and takes a chat message there but no pass."""
    g = file_game(run_scenario(CLOSES + "Bob: sell 2 MP", options=(SITE_CONVENTIONS,)))
    events = play_in_place(g, "p1", Pass()).events
    names = site_names_of("1870")
    [message] = encode_action(g, names, PieceNumbering(names, g.title), "p2", Pass())
    assert {k: message[k] for k in message if k != "message"} == {
        "type": "message", "entity": 3, "entity_type": "player",
    }  # fmt: skip
    players = [{"id": n, "name": f"P{n}"} for n in (1, 2, 3)]
    file = {"title": "1870", "players": players, "actions": [message | {"id": 1}]}
    game = SiteReplay(read_site_file(json.dumps(file).encode()))
    game.game, game.state = g, g.state
    game.append_line("p1", "pass", events)
    assert [action.type for action in game.run()] == ["message"]
    assert engine.decision(game.state).asked == ("p0",)


def test_no_connection_is_written_for_a_company_that_closes_during_price_protection() -> None:
    """Its turn ended before; price protection is decided after it has closed."""
    exporter = SiteExporter(new_game("1870", ("Ann", "Bob"), (SITE_CONVENTIONS,)).state)
    exporter.actions.append({"type": "pass"})
    exporter.site.connections.ended_turn = "MP"
    exporter.site.game.company("MP").closed = True
    exporter.site.connections.write_turn_end([])
    assert exporter.actions == [{"type": "pass"}]


def test_the_site_may_ask_for_a_par_price_after_the_next_privates_are_sold() -> None:
    bids = (0, "buy GRSC"), (1, "bid Katy 165"), (2, "buy MRBC"), (0, "buy SCC"), (1, "buy GSC")
    file = export_game(play_lines((), *bids, (2, "buy Frisco"), (2, "par SLSF 100"), title="1870"))
    assert [action["type"] for action in file["actions"]] == ["bid"] * 6 + ["par"]
    assert replay_file(file).state.private_owners["Katy"] == "p1"


def test_consent_and_declined_offers_are_not_recorded() -> None:
    lines = [*OPENING, *[(s, "pass") for s in (0, 1, 2)] * 1]
    game = play_lines((SITE_CONVENTIONS,), *lines)
    state = end_of(game)
    seat = int(engine.decision(state).asked[0][1:])
    owner = int(state.private_owners["SV"][1:])
    if owner == seat:
        lines.append((seat, "pass"))
        seat = (seat + 1) % 3
    name = ("Ann", "Bob", "Cid")[owner]
    offer = (seat, f"buy private SV from {name} for 7")
    lines += [offer, (owner, "decline"), offer, (owner, "accept")]
    actions = export_game(play_lines((SITE_CONVENTIONS,), *lines))["actions"]
    assert actions[-1]["type"] == "buy_company" and actions[-1]["price"] == 7
    assert sum(a["type"] == "buy_company" for a in actions) == 1


def test_a_rulebook_game_is_exported_if_it_meets_no_difference() -> None:
    game = play_lines((), *OPENING)
    imported = replay_file(export_game(game))
    assert imported.state.cash == end_of(game).cash


def test_a_home_chosen_before_its_tile_is_exported_once_the_site_asks() -> None:
    """By 1830 §19.1 the president chooses in the first turn; on the site the player who lays the tile."""
    exporter = SiteExporter(new_game("1830", ("Ann", "Bob", "Cid"), ()).state)
    state = run_1830_scenario(ERIE + "= turn Ann Erie")
    exporter.our_state = copy_state(state)
    exporter.site.game = game_of(run_1830_scenario(ERIE + "= turn Ann Erie", options=(SITE_CONVENTIONS,)))
    exporter.site.numbering.update([TokenPlaced("Erie", "E11", UNDECIDED_CITY)])
    for line in ("home Erie E11.1", "lay 59 E11 3", "buy train 3"):
        played = play(state, "p0", engine.parse(state, "p0", line))
        exporter.add_line(HistoryLine("p0", line, played.events))
        state = played.state
    exported = [(a["type"], a["entity"], a.get("city")) for a in exporter.actions]
    assert exported == [
        ("lay_tile", "ERIE", None),
        ("place_token", "ERIE", "59-0-1"),
        ("buy_train", "ERIE", None),
    ]


def test_the_first_move_without_a_counterpart_is_named() -> None:
    game = play_lines((), *OPENING, *[(s, "pass") for s in (0, 1, 2)])
    state = end_of(game)
    seat = int(engine.decision(state).asked[0][1:])
    owner = int(state.private_owners["SV"][1:])
    lines = [*OPENING, *[(s, "pass") for s in (0, 1, 2)]]
    while owner != seat:
        lines.append((seat, "pass"))
        seat = (seat + 1) % 3
    other = ("Ann", "Bob", "Cid")[(seat + 1) % 3]
    lines += [(seat, f"sell private SV to {other} for 3"), ((seat + 1) % 3, "accept")]
    with pytest.raises(SiteExportError) as error:
        export_game(play_lines((), *lines))
    assert error.value.move_number == len(lines)
    assert str(error.value).startswith(f"Move {len(lines)} ({other}: accept) has no counterpart")


def test_a_position_that_was_set_up_is_not_exported() -> None:
    start = new_game("1830", ("Ann", "Bob", "Cid"), (SITE_CONVENTIONS,)).state
    start.cash["p0"] += 1
    with pytest.raises(SiteExportError, match="does not start from the opening position"):
        export_game(GameHistory(start, ()))


def test_a_title_that_the_site_does_not_have_is_not_exported() -> None:
    start = new_game("1851", ("Ann", "Bob", "Cid"), ()).state
    with pytest.raises(SiteExportError, match="the site does not have 1851"):
        export_game(GameHistory(start, ()))


def test_a_refusal_names_the_difference_on_the_site() -> None:
    """It says what has another result, not two balances side by side."""
    start = new_game("1830", ("Ann", "Bob", "Cid"), ()).state
    bought = play(start, "p0", engine.parse(start, "p0", "buy SV"))
    for dollars, sentence in ((640, r"Ann has \$160 more there\."), (840, r"Ann has \$40 less there\.")):
        exporter = SiteExporter(start)
        exporter.our_state.cash["p0"] = dollars
        with pytest.raises(SiteExportError, match=sentence):
            exporter.add_line(HistoryLine("p0", "buy SV", bought.events))
    exporter = SiteExporter(start)
    exporter.our_state.private_owners["CS"] = "p1"
    with pytest.raises(SiteExportError, match=r"the CS belongs to the bank there and to Bob here\."):
        exporter.add_line(HistoryLine("p0", "buy SV", bought.events))


def export_beginning(
    title: str, players: int, seed: int, moves: int
) -> tuple[SiteExporter, list[HistoryLine]]:
    """A random rulebook game, exported as far as so many moves."""
    lines = simulate_game(title, players, seed, max_moves=moves).history_lines
    exporter = SiteExporter(new_game(title, PLAYER_NAMES[:players], ()).state)
    for line in lines:
        exporter.add_line(line)
    return exporter, lines


def test_passes_in_advance_after_a_conversion_are_exported_in_turn() -> None:
    """1817 §7.1.4: here all players may pass at once; the site asks one after the other."""
    exporter, lines = export_beginning("1817", 4, 2, 150)
    assert sum(line.line == "convert" for line in lines) >= 2
    converted = [at for at, action in enumerate(exporter.actions) if action["type"] == "convert"]
    assert len(converted) >= 2
    after = exporter.actions[converted[0] + 1 :]
    assert any(a["type"] == "pass" and a["entity_type"] == "player" for a in after)


@pytest.mark.parametrize(
    "action, refusal, sentence",
    [
        (TradePrivate("SV", 0), "A private costs at least $1.", "there a private costs at least $1."),
        (
            Merge("WT"),
            "The R survives the merger (1817 §7.1.2).",
            "there the company whose turn it is survives",
        ),
        (PayDividend(), "No (1830 §20).", "there it is refused. No."),
        (
            Par("PRR", 100),
            "One certificate may be bought in a turn (1830 §4).",
            "there a private takes the place of the turn's certificate, and was bought before.",
        ),
    ],
)
def test_a_refusal_is_a_sentence_about_the_site(action: Action, refusal: str, sentence: str) -> None:
    assert refusal_on_site(action, refusal).startswith(sentence)


def test_only_the_buyer_of_a_private_proposes_on_the_site() -> None:
    assert other_turn(TradePrivate("SV", 5), "Ann", None, False).startswith("there only the buyer proposes")
    assert other_turn(Pass(), "Ann", "NYC", False) == "Ann, who acts for the NYC, is asked first there."


def answers_with_the_deed(lines: Sequence[HistoryLine]) -> list[tuple[str, str]]:
    """The lines, where a president who will act says at once what: `convert` instead of `act`, `convert`."""
    said: list[tuple[str, str]] = []
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        deed = following and following.seat == line.seat and following.line.split()[0] in DEEDS
        if not (line.line == "act" and deed):
            said.append((line.seat, line.line))
    return said


DEEDS = ("convert", "merge", "offer")


@pytest.mark.parametrize("players, seed, count", [(4, 2, 4)])
def test_a_deed_said_in_a_poll_is_exported_like_act_and_the_deed(players: int, seed: int, count: int) -> None:
    """1817 §7.1, §7.2: the answer to the poll and the deed are one line here, and one action there."""
    exporter, lines = export_beginning("1817", players, seed, 260)
    shorter, state = SiteExporter(exporter.start), copy_state(exporter.start)
    said = answers_with_the_deed(lines)
    assert len(lines) - len(said) == count
    for seat, line in said:
        state, events = play(state, seat, engine.parse(state, seat, line))
        shorter.add_line(HistoryLine(seat, line, events))
    assert shorter.actions == exporter.actions
    assert {a["type"] for a in shorter.actions} >= {"convert"}


@pytest.mark.parametrize(
    "setup, lines, exported",
    [
        (SMALL, ("Ann: pass", "Bob: merge WT", "Ann: accept"), ("pass WT", "merge SR")),
        (SMALL, ("Ann: merge SR", "Bob: accept"), ("merge WT",)),
        (sale(60), ("Bob: offer SR",), ("assign 2",)),
    ],
)
def test_a_merger_or_an_offer_said_in_a_poll_is_one_action(
    setup: str, lines: tuple[str, ...], exported: tuple[str, ...]
) -> None:
    """1817 §7.1.2, §7.2: from a set-up in which the poll has just begun."""
    ours, site = (
        run_1817_scenario(
            setup + "= price SR 60" if "sale" in setup else setup + "= size SR 2", options=options
        )
        for options in ((), (SITE_CONVENTIONS,))
    )
    exporter = SiteExporter(new_game("1817", ours.players, ()).state)
    exporter.our_state, exporter.site.game = copy_state(ours), game_of(site)
    for company, held in ours.companies.items():
        for train in held.trains:
            exporter.site.numbering.update([TrainMoved(train, "bank", company, TrainReason.BOUGHT)])
    for hex, tokens in ours.tokens.items():
        exporter.site.numbering.update([TokenPlaced(owner, hex, node) for node, owner in tokens])
    state = ours
    for each in lines:
        name, _, line = each.partition(": ")
        seat = state.seats[state.players.index(name)]
        state, events = play(state, seat, engine.parse(state, seat, line))
        exporter.add_line(HistoryLine(seat, line, events))
    actions = [f"{a['type']} {a['entity']}" for a in exporter.actions]
    assert tuple(actions[: len(exported)]) == exported
