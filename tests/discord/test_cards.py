"""Cards of whole games keep Discord's limits; their menus lead to all legal lines, and to no others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

import engine
from bot.discord.cards import card_texts, layouts, parts
from bot.discord.cards.parts import ImageAttachment, Json
from bot.discord.controls import controls, decision_controls, previews
from bot.discord.controls.controls import (
    ENTER_AMOUNT,
    LOOK_CLOSER,
    OPEN_MENU,
    OPEN_TILES,
    SELECT,
    SELL,
    SUBMIT_LINE,
    CustomId,
)
from bot.discord.interactions import private_answers
from bot.hub.feature import Addition
from bot.hub.info import SeatedPlayer, TableInfo
from bot.hub.log import LogEntry
from bot.hub.table import TableView
from bot.position.controls import Say, Show
from bot.position.pending import PendingDecision, engine_seat, pending_decisions
from bot.tools.simulation.simulate import simulate_game
from engine import Choice, State
from renderers import Picture
from tests.fake_discord import limits
from tests.fake_discord.models import walk_components
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord
from tests.game_text.histories import GAMES, history_of
from tests.t1817.scenarios import run_scenario
from tests.t1817.test_07_conversions_and_mergers import SMALL
from tests.t1830.scenarios import run_scenario as run_1830

SHOTS = [
    ImageAttachment(f"{name}.png", Picture(b"", text, 1, 1))
    for name, text in (("map", "The map. " * 200), ("market", "The market."))
]
MOST_ROWS = 9
PLAYED = (SUBMIT_LINE, ENTER_AMOUNT, LOOK_CLOSER)  # the actions whose argument is a choice


def table(state: State) -> TableInfo:
    sitters = tuple(SeatedPlayer(i, i + 1, name, True, i + 1) for i, name in enumerate(state.players))
    return TableInfo(
        70707, "A7KQ", "Friday night with friends", state.title, state.options, "running", 1, {}, sitters,
        tuple(state.players), engine.round_name(state), (), 12345,
    )  # fmt: skip


def view(state: State) -> TableView:
    pending, decision_id = pending_decisions(state, 99), f"99.{state.question_number}"
    return TableView(table(state), engine.encode_state(state), 12345, decision_id, pending, ())


def check(components: list[Json], files: int = 0) -> None:
    """Check a payload as Discord does."""
    limits.check_message(content="", components=components, files=files, v2=True, thinking=False)


def keys(components: list[Json]) -> Iterator[CustomId]:
    """The custom ids of all controls, including the options of selects."""
    for part in walk_components(components):
        key = controls.parse_custom_id(part.get("custom_id", ""))
        assert key or "custom_id" not in part
        if key and key.action in (SELECT, SELL):
            for option in part["options"]:
                act, _, arg = option["value"].partition(":")
                yield key._replace(action=act, argument=arg)
        elif key:
            yield key


def reached(components: list[Json], choices: list[Choice], depth: int = 0) -> set[str]:
    """The lines to which the controls lead, through all menus."""
    assert depth < 8
    found: set[str] = set()
    for key in keys(components):
        if key.action == OPEN_MENU:
            step = controls.parse_menu_position(key.argument)
            assert step
            places = controls.choices_below(choices, step)
            menu = private_answers.menu_message(
                key, "Menu", controls.menu_items(choices, places, step.depth, step.page)
            )
            check(menu)
            found |= reached(menu, choices, depth + 1)
        elif key.action == OPEN_TILES:
            found |= reached(tile_message(key, choices), choices, depth + 1)
        elif (
            key.action in (SUBMIT_LINE, ENTER_AMOUNT, LOOK_CLOSER)
            and key.decision_id
            and key.seat is not None
        ):
            choice = controls.find_choice(choices, key.argument)
            assert choice and (key.action == ENTER_AMOUNT) == (choice.amounts is not None)
            if choice.amounts is not None:
                limits.check_modal(private_answers.amount_modal(key, choice))
            found.add(choice.line)
    return found


def tile_message(key: CustomId, choices: list[Choice]) -> list[Json]:
    """What a control of tile lays opens: a page of hexes, or of the ways to lay on one."""
    lays = decision_controls.lay_choices(choices)
    hex, _, page = key.argument.partition("+")
    if not hex:
        message = private_answers.menu_message(
            key, "Lay", decision_controls.hex_items(choices, lays, int(page))
        )
    else:
        on_hex = [lay for lay in lays if lay.hex == hex]
        message = previews.ways_message(key, choices, on_hex, [], int(page or 0))
        for lay in on_hex:
            check(previews.look_message(key, choices, lay, "Costs $80.", []))
    check(message)
    return message


@pytest.mark.parametrize(("players", "seed", "every"), [(2, 5, 4), (4, 1, 1), (6, 3, 4)])
def test_every_decision_of_a_game_fits(players: int, seed: int, every: int) -> None:
    seen = 0
    rows = 0

    def watch(game: object) -> None:
        nonlocal seen, rows
        state: State = game.state  # type: ignore[attr-defined]
        moves: int = game.move_count  # type: ignore[attr-defined]
        if state.game_over or moves % every:
            return
        now = view(state)
        for asked in now.pending:
            choices = engine.choices(state, engine_seat(asked.seat))
            past = ["Ann: " + "a very long sentence " * 20] * 8
            shots = SHOTS if moves % 3 else []
            users = {asked.seat: "1234567890123456789"}
            payload = layouts.turn_card(now, [asked], {asked.seat: choices}, past, users, shots)
            check(payload, len(shots))
            assert reached(payload, choices) == {c.line for c in choices}
            limits.check_modal(
                private_answers.line_modal(
                    CustomId(70707, asked.seat, asked.decision_id, "w"), choices[0].line
                )
            )
            rows = max(rows, sum(part["type"] == 1 for part in walk_components(payload)))
            seen += 1

    game = simulate_game("1830", players, seed, watch=watch)
    assert game.failure is None
    assert seen > 30
    assert rows <= MOST_ROWS


EIGHT = ("PRR", "NYC", "CPR", "B&O", "C&O", "Erie", "NYNH", "B&M")


def test_of_the_sales_of_many_companies_those_that_a_button_can_say_are_confirmed() -> None:
    setup = "".join(f"@ owns Bob {sym} 5\n@ owns Ann {sym} 1\n@ par {sym} 67\n" for sym in EIGHT)
    state = run_1830(f"{setup}@ round stock Ann\n= owns Ann PRR 1\n")
    key = CustomId(70707, 0, "12345.678", SELL)
    lines = [f"sell 1 {sym}" for sym in EIGHT]
    preview = previews.preview_sales(state, "p0", lines, key.max_argument_length)
    message = previews.sale_message(key, "p0", preview)
    check(message)
    assert list(preview.lines) == lines[:6]
    assert all(f"`{line}` does not fit here: choose it afterwards." in preview.text for line in lines[6:])


def test_shares_are_sold_after_a_merger() -> None:
    """1817 §7.1.2: the line names no company."""
    game = next(path for path in GAMES if path.stem.startswith("1817-12p-6101"))
    state = history_of(game).state_after(773)
    items = decision_controls.sale_items(engine.choices(state, "p2"))
    assert [each.argument for each in items] == ["sell 1", "sell 2"]
    preview = previews.preview_sales(state, "p2", ["sell 1", "sell 2"])
    assert preview.lines == ("sell 2",) and preview.text.startswith("`sell 2` brings $")


@pytest.mark.parametrize(
    ("game", "moves", "line", "told"),
    [
        (
            "1830-4p-16-18xx.games",
            198,
            "lay 57 E19 0",
            "Costs nothing.",
        ),  # and privates pay in the next round
        ("1870-6p-5400-historical_order", 738, "lay 9 I20 0", "Costs nothing. ⚠ The GMO closes."),
        ("1817-12p-6101-increased_short_sales-more_players", 708, "lay 9 E18 0 with mine", "Brings $20."),
    ],
)
def test_the_price_of_a_lay_is_that_of_the_lay_alone(game: str, moves: int, line: str, told: str) -> None:
    history = history_of(next(path for path in GAMES if path.stem == game))
    state = history.state_after(moves)
    assert previews.preview_lay(state, engine.decision(state).acting[0], line).text.startswith(told)


def many(count: int, *path: str) -> list[Choice]:
    return [Choice(f"go {i}", f"Go to place {i}", ("go", *path, f"place {i}")) for i in range(count)]


def test_more_than_25_labels_have_pages() -> None:
    choices = many(80)
    found = controls.menu_items(choices, range(80))
    assert len(found) == 25
    assert found[-1].action == OPEN_MENU
    step = controls.parse_menu_position(found[-1].argument)
    assert step and step.page == 1
    last = controls.menu_items(choices, controls.choices_below(choices, step), step.depth, 3)
    assert [each.argument for each in last] == [f"go {i}" for i in range(72, 80)]


def test_a_label_shared_by_all_choices_is_not_a_menu_level() -> None:
    found = controls.menu_items(many(30, "there"), range(30), 1)
    assert found[0].label == "Go to place 0"


def test_a_choice_whose_path_is_a_prefix_of_others_is_in_the_same_menu() -> None:
    choices = [Choice("take", "Take it", ("take",)), *many(26)]
    choices = [replace(c, path=("take", *c.path[1:])) if c.line != "take" else c for c in choices]
    found = controls.menu_items(choices, range(27), 1)
    assert (found[0].label, found[0].argument) == ("Take it", "take")


def test_a_line_that_is_too_long_is_encoded_by_index_and_checksum() -> None:
    long = [replace(c, line=f"{c.line} {'and on ' * 20}") for c in many(3)]
    name = controls.encode_choice(long, 1, 60)
    assert name.startswith("#1.")
    assert controls.find_choice(long, name) == long[1]
    assert controls.find_choice(list(reversed(long)), name) == long[1]
    assert controls.find_choice(long[1:], name) is None
    assert controls.find_choice([], name) is None


@pytest.mark.parametrize(
    "key",
    [
        CustomId(7, 0, "0.17", "s", "lay 57 H10 0"),
        CustomId(7, None, None, "join"),
        CustomId(7, 3, "v5", "s", "accept vote"),
        CustomId(7, 3, "2.o3", "m", "2.0.buy: sell"),
    ],
)
def test_custom_ids_are_parsed_back(key: CustomId) -> None:
    assert controls.parse_custom_id(str(key)) == key


@pytest.mark.parametrize(
    "text", ["", "x", "r1:a:0:0.1:s:pass", "r0:7:0:0.1:s:pass", "r1:7:x:0.1:s:", "r1:7:0:s"]
)
def test_other_custom_ids_are_rejected(text: str) -> None:
    assert controls.parse_custom_id(text) is None


def test_verbs_with_few_long_choices_share_one_select() -> None:
    long = " which is told at more length than a button shows"
    choices = [
        Choice("convert", f"Convert it{long}", ("convert",)),
        Choice("merge", f"Merge it{long}", ("merge", "GT", "the GT remains")),
        Choice("pass", "Do nothing", ("done",)),
        Choice("loan", "Take a loan", ("loan",)),
    ]
    found = controls.card_controls(choices, 60)
    assert [each.label for each in found.buttons] == ["Do nothing", "Take a loan"]
    assert [(title, [each.argument for each in each_one]) for title, each_one in found.selects] == [
        ("Convert, merge: 2 ways", ["convert", "merge"])
    ]
    more = Choice("sell", "Sell a share", ("sell",))
    alone = controls.card_controls([*choices[1:], more], 60)
    assert [title for title, _ in alone.selects] == ["Merge: 1 way"]


def test_few_choices_get_buttons_even_with_long_labels() -> None:
    choices = [
        Choice("accept", "Accept: an 8-train from the Belt to the H for $20", ("accept",)),
        Choice("decline", "Decline: an 8-train from the Belt to the H for $20", ("decline",)),
    ]
    found = controls.card_controls(choices, 60)
    assert [each.argument for each in found.buttons] == ["accept", "decline"] and not found.selects


@pytest.mark.parametrize("ways", [1, 2, 30])
def test_many_verbs_fit(ways: int) -> None:
    """Forty verbs with that many choices each: more than any title has, and the card still fits."""
    choices = [
        Choice(f"verb{v} {i}", f"Act {v} in way {i}" + " at length" * (ways // 3), (f"verb{v}", f"way {i}"))
        for v in range(40)
        for i in range(ways)
    ]
    state = engine.new_game("1830", ["Ann", "Bob", "Cid"]).state
    now = view(state)
    asked = PendingDecision(0, "Ann", "0.1")
    added = Addition(
        ["Please reply by Sunday."], [Say("Undo", "undo"), *(Show(f"More {n}…", f"at {n}") for n in range(4))]
    )
    payload = layouts.turn_card(now, [asked], {0: choices}, [], {}, SHOTS, added=added)
    check(payload, 2)
    assert reached(payload, choices) == {c.line for c in choices}


def said(seq: int, seat: int, *sentences: str, line: str = "", is_live: bool = True) -> LogEntry:
    return LogEntry(seq, None, "move", seat, line, line or "a line", sentences, is_live)  # type: ignore[arg-type]


def test_the_history_is_a_line_for_each_turn() -> None:
    """Without steps in which nothing was done; who passes one after the other shares a line."""
    names = ("Ann", "Bob", "Cid")
    rows = [
        said(1, 0, "The PRR lays #57 on H10, rotation 0."),
        said(2, 0, "The PRR declines to place a token."),
        said(3, 0, "The PRR runs a 2-train on H10-H12: $40.", is_live=False),
        said(4, 0, "The PRR declines to buy a train.", "Stock round 2 begins."),
        said(5, 1, "Bob buys 10 % of the PRR from the pool for $90."),
        said(6, 1, line="pass"),
        said(7, 2, "Cid passes."),
        said(8, 0, "Ann passes.", "Operating round 2.1 begins."),
        replace(said(9, 1, "Dan, who sat here, proposes another pace."), kind="note"),
    ]
    assert card_texts.history_lines(rows, names) == [
        "Ann: The PRR lays #57 on H10, rotation 0.",
        "Stock round 2 begins.",
        "Bob buys 10 % of the PRR from the pool for $90.",
        "Cid and Ann pass.",
        "Operating round 2.1 begins.",
        "Dan, who sat here, proposes another pace.",
    ]
    assert card_texts.turn_lines(rows[4:7], names) == [
        "✓ Bob buys 10 % of the PRR from the pool for $90.", "✓ Cid passes.",
    ]  # fmt: skip
    assert card_texts.turn_lines(rows[6:8], names) == ["✓ Cid and Ann pass.", "✓ Operating round 2.1 begins."]
    assert card_texts.turn_lines(rows[1:2], names) == ["✓ Ann: The PRR declines to place a token."]


def test_a_move_that_says_nothing_is_told_by_its_line_where_it_is_alone() -> None:
    """Such as a `pass` after a sale, told by a card that was made after the sale."""
    names = ("Ann", "Bob")
    sale, end = said(1, 0, "Ann sells 10 % of the PRR."), said(2, 0, line="pass")
    assert card_texts.turn_lines([sale, end], names) == ["✓ Ann sells 10 % of the PRR."]
    assert card_texts.turn_lines([end], names) == ["✓ Ann: pass"]
    undone = replace(end, is_live=False)
    assert card_texts.turn_lines([sale, undone], names) == [
        "✓ Ann sells 10 % of the PRR.", "↶ Ann: pass (undone)",
    ]  # fmt: skip
    assert card_texts.history_lines([end], names) == []


def test_text_is_shown_as_it_is_and_code_as_code() -> None:
    """Two presidencies in a line were in italics, without their stars."""
    told = parts.escape_markdown("Ann_B: PRR 30%*, NYC 20%*; `/show log` has ~5 | more")
    assert told == r"Ann\_B: PRR 30%\*, NYC 20%\*; `/show log` has \~5 \| more"
    assert parts.escape_markdown("1. a ` b\n2. *c* ` d") == "1. a \\` b\n2. \\*c\\* \\` d"
    (text,) = layouts.finished_card(["✓ Bob_: buys *the* SV."])
    assert text["content"] == r"✓ Bob\_: buys \*the\* SV."


def test_of_a_long_history_the_last_turns_are_shown() -> None:
    names = ("Ann", "Bob")
    rows = [said(i, i % 2, f"{names[i % 2]} does thing {i}, {'a word ' * 20}.") for i in range(30)]
    first, *kept = card_texts.history_lines(rows, names)
    assert first == f"… and {30 - len(kept)} earlier turns (`/show log`)"
    assert 5 <= len(kept) <= 12 and "thing 29" in kept[-1]
    assert len("\n".join([first, *kept])) <= card_texts.MAX_HISTORY
    long = card_texts.history_lines([said(1, 0, "word " * 1000)], names)
    assert [len(line) for line in long] == [card_texts.MAX_HISTORY_LINE]


def test_par_keeps_its_place_in_the_select() -> None:
    """Also where only one company or one price is left; other verbs with so few choices become buttons."""
    choices = [
        Choice("buy NYC from ipo", "Buy 10 % of the NYC", ("buy", "NYC", "ipo")),
        Choice("par PRR 67", "Par the PRR at $67", ("par", "PRR", "$67")),
        Choice("par PRR 71", "Par the PRR at $71", ("par", "PRR", "$71")),
        Choice("pass", "Pass", ("pass",)),
    ]
    for left in (choices, [*choices[:2], choices[3]]):
        made = controls.card_controls(left, 60)
        assert [item.argument for item in made.buttons] == ["buy NYC from ipo", "pass"]
        [(placeholder, items)] = made.selects
        assert placeholder.startswith("Par: ") and [i.argument for i in items] == [
            choice.line for choice in left if choice.path[0] == "par"
        ]


def test_what_all_may_press_names_nobodys_company() -> None:
    """1817 §7: each president is asked about their own companies."""
    state = run_scenario(f"{SMALL}= phase 3\n")
    asked = view(state)
    choices = {each.seat: engine.choices(state, engine_seat(each.seat)) for each in asked.pending}
    (row, *_) = layouts.shared_controls(asked, asked.pending, choices, ())  # without what features add
    labels = [control["label"] for control in row["components"]]
    assert labels == ["Act", "Pass", "Ann: all options…", "Bob: all options…"]


async def test_what_is_said_by_email_stands_in_the_thread_as_it_was_written(
    started: RunningBot, fake: FakeDiscord
) -> None:
    """Nothing of it is a mark of Discord's."""
    table = await started.service.queries.find_table(started.table_code)
    await started.service.running.announce(
        table.id, "Bob says: 2 * 3_4 * 5 ~~ `pass` <@1> [x](http://a)", "say"
    )
    told = r"Bob says: 2 \* 3\_4 \* 5 \~\~ `pass` \<@1> \[x](http://a)"

    def notices() -> list[str]:
        messages = fake.visible_messages(started.thread)
        return [each.text for each in messages if "Bob says" in each.text and not fake.controls(each)]

    await fake.wait_until(notices, "the words of Bob")
    assert [told in text for text in notices()] == [True]
