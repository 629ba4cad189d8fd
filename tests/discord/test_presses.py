"""How many presses a decision takes, and what is shown before it is done."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

import engine
from bot.discord.controls.decision_controls import purchases
from bot.discord.controls.previews import preview_sales
from bot.discord.places import ask_anew
from bot.pictures.views import turn_pictures
from bot.service import Service
from bot.tools.simulation.simulate import SimulatedGame, simulate_game
from engine.game_text.history import GameHistory
from storage import open_store
from tests.drawn_here import DrawnHere
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord, Message, MessageControl

LONGEST = {"1830": 300, "1870": 280, "1817": 450}
"""How many moves of a title's game are needed."""
ALL = pytest.mark.parametrize("title", LONGEST)
ALL_IN_A_SOAK = pytest.mark.parametrize(
    "title", ["1830", *(pytest.param(title, marks=pytest.mark.soak) for title in ("1870", "1817"))]
)


@cache
def game(title: str = "1830") -> SimulatedGame:
    return simulate_game(title, 3, 3, max_moves=LONGEST[title])


@pytest.fixture
def users() -> tuple[str, ...]:
    return tuple(game().players)


def history_until(wanted: Callable[[engine.State], bool], title: str) -> tuple[GameHistory, engine.State]:
    """The game up to the first position that is `wanted`, and that position."""
    start, lines = game(title).start, tuple(game(title).history_lines)
    state = engine.copy_state(start)
    for number, line in enumerate(lines):
        if wanted(state):
            return GameHistory(start, lines[:number]), state
        engine.fold(line.events, state)
    raise AssertionError("The game has no such position.")


async def reach(
    running: RunningBot, wanted: Callable[[engine.State], bool], title: str = "1830"
) -> engine.State:
    """Play a table, while the bot is offline, up to a position that is `wanted`."""
    history, state = history_until(wanted, title)
    table = await running.begin_with(history, in_thread=True)
    async with await open_store(running.path) as store:
        service = Service(store)
        async with service.cache.locked(table) as live:
            await ask_anew(service, live)
    return state


def actor(state: engine.State) -> str:
    return state.name(engine.decision(state).acting[0])


def choices(state: engine.State) -> list[engine.Choice]:
    return engine.choices(state, engine.decision(state).acting[0])


def companies_for_sale(state: engine.State) -> set[str]:
    sales = [c.path[1] for c in choices(state) if c.path[0] == "sell"]
    return set(sales) if engine.round_name(state).startswith("stock") and not state.game_over else set()


class PressCounter:
    """Counts the presses from its making on."""

    def __init__(self, fake: FakeDiscord) -> None:
        self._fake, self._before = fake, len(fake.interactions)

    @property
    def count(self) -> int:
        return len(self._fake.interactions) - self._before


def labels(fake: FakeDiscord, message: Message) -> list[str]:
    return [each.label for each in fake.controls(message)]


def shares_on_offer(state: engine.State) -> bool:
    in_stock_round = engine.topic(state) == "stock" and engine.round_name(state).startswith("stock")
    return in_stock_round and any(c.path[0] == "buy" and c.amounts is None for c in choices(state))


@ALL_IN_A_SOAK
async def test_a_share_is_bought_with_one_press(running: RunningBot, fake: FakeDiscord, title: str) -> None:
    state = await reach(running, shares_on_offer, title)
    async with running.online():
        card = await running.wait_for_card(actor(state))
        presses = PressCounter(fake)
        label = next(each for each in labels(fake, card) if each.startswith("Buy ") and "," in each)
        await fake.click(actor(state), card, label)
        await running.wait_for_delivery()
        assert presses.count == 1
        assert (await running.played_lines())[-1].startswith(f"buy {label.split()[1].rstrip(',')}")


def sells_two_and_buys(state: engine.State) -> bool:
    """Shares of two companies may be sold, and one of another be bought afterwards."""
    companies = sorted(companies_for_sale(state))[:2]
    if len(companies) < 2:
        return False
    seat = engine.decision(state).acting[0]
    lines = [next(c.line for c in choices(state) if c.path[:2] == ("sell", each)) for each in companies]
    after = preview_sales(state, seat, lines).state
    return not after.game_over and bool(purchases(after, seat, engine.choices(after, seat)))


@ALL_IN_A_SOAK
async def test_two_blocks_are_sold_and_a_share_bought_with_two_presses(
    running: RunningBot, fake: FakeDiscord, title: str
) -> None:
    """The fall of prices is shown before anything is sold, also one after the turn (1870 §5.9)."""
    state = await reach(running, sells_two_and_buys, title)
    async with running.online():
        name, played = actor(state), await running.played_lines()
        card = await running.wait_for_card(name)
        first, second = sorted(companies_for_sale(state))[:2]
        menu = next(c for c in fake.controls(card) if c.label.startswith("Sell"))
        wanted = [next(o.name for o in menu.options if each in o.name) for each in (first, second)]
        presses = PressCounter(fake)
        shown = await fake.select(name, card, menu.custom_id, *wanted)
        assert "→" in shown.message.text
        assert ("at the end of the round" in shown.message.text) == (title == "1817")
        assert "You then have" in shown.message.text
        assert await running.played_lines() == played, "nothing is sold yet"
        both = next(each for each in labels(fake, shown.message) if each.startswith("Confirm, buy"))
        await fake.click(name, shown.message, both)
        await fake.wait_until(lambda: "Done." in shown.message.text, "the sale")
        assert presses.count == 2
        sold = (await running.played_lines())[len(played) :]
        assert [line.split()[0] for line in sold] == ["sell", "sell", "buy"]


def begins_a_turn(state: engine.State) -> bool:
    """An operating turn with a train and tiles to lay, and room for nothing that is forced."""
    top = state.top
    if state.game_over or not isinstance(top, engine.OperatingTurn) or top.lays_used:
        return False
    lays = [c for c in choices(state) if c.line.startswith("lay ")]
    return bool(lays) and bool(state.companies[top.company].trains)


@ALL
async def test_a_plain_operating_turn_takes_six_presses(
    running: RunningBot, fake: FakeDiscord, title: str
) -> None:
    """Track with its preview takes two of them."""
    state = await reach(running, begins_a_turn, title)
    name, company = actor(state), engine.decision(state).company
    async with running.online() as service:
        table = (await service.queries.find_table(running.table_code)).id
        card = await running.wait_for_card(name)
        presses = PressCounter(fake)
        where = next(c for c in fake.controls(card) if c.label.startswith("Lay"))
        shown = await fake.select(name, card, where.custom_id, where.options[0].name)
        assert "**1** ·" in shown.message.text and "Lay 1" in labels(fake, shown.message)
        assert all(fake.alt_texts(shown.message))
        await fake.click(name, shown.message, "Lay 1")
        await fake.wait_until(lambda: "Done." in shown.message.text, "the lay")
        assert presses.count == 2 and (await running.played_lines())[-1].startswith("lay ")
        for _ in range(10):
            view = await service.queries.view(table)
            now, moves = view.state, view.seq
            assert now is not None
            if engine.decision(now).company != company:
                break
            card = await running.wait_for_card(name)
            buttons = [c for c in fake.controls(card) if c.kind == "button" and ":s:" in c.custom_id]
            await fake.click(name, card, custom_id=plain_button(now, buttons))
            await fake.wait_until(lambda: seq_of(service, table) > moves, "the move")  # noqa: B023
        assert presses.count <= 6, presses.count


def seq_of(service: Service, table: int) -> int:
    view = service.queries.peek(table)
    return view.seq if view else 0


def plain_button(state: engine.State, buttons: list[MessageControl]) -> str:
    """What most turns do: run the best, pay, and nothing else."""
    for wanted in ("run", "pay", "dividend"):
        for each in buttons:
            if each.custom_id.split(":s:")[1].startswith(wanted):
                return str(each.custom_id)
    return next(str(each.custom_id) for each in buttons if each.custom_id.split(":s:")[1] in ("pass", "done"))


def has_other_runs(state: engine.State) -> bool:
    return not state.game_over and bool(engine.other_runs(state, engine.decision(state).acting[0]))


@ALL_IN_A_SOAK
async def test_other_routes_are_run_with_one_press(
    running: RunningBot, fake: FakeDiscord, title: str
) -> None:
    state = await reach(running, has_other_runs, title)
    name, runs = actor(state), engine.other_runs(state, engine.decision(state).acting[0])
    async with running.online():
        card = await running.wait_for_card(name)
        presses = PressCounter(fake)
        menu = next((c for c in fake.controls(card) if c.label.startswith("Other routes: ")), None)
        if menu is not None:
            assert [each.name for each in menu.options] == [run.label for run in runs]
            await fake.select(name, card, menu.custom_id, runs[0].label)
        else:
            await fake.click(name, card, runs[0].label)
        await running.wait_for_delivery()
        assert presses.count == 1 and (await running.played_lines())[-1] == runs[0].line


@ALL_IN_A_SOAK
async def test_a_train_is_bought_with_one_press(running: RunningBot, fake: FakeDiscord, title: str) -> None:
    state = await reach(
        running,
        lambda s: (
            not s.game_over
            and isinstance(s.top, engine.OperatingTurn)
            and any(c.line.startswith("buy train") and c.amounts is None for c in choices(s))
        ),
        title,
    )
    async with running.online():
        card = await running.wait_for_card(actor(state))
        presses = PressCounter(fake)
        label = next(each for each in labels(fake, card) if "train" in each and each.startswith("Buy"))
        await fake.click(actor(state), card, label)
        await running.wait_for_delivery()
        assert presses.count == 1 and (await running.played_lines())[-1].startswith("buy train")


async def test_a_lay_is_looked_at_before_it_is_done(running: RunningBot, fake: FakeDiscord) -> None:
    """The map with the tile, its cost and the best run; then *Lay* or *Back*."""
    state = await reach(running, begins_a_turn)
    name = actor(state)
    async with running.online():
        card = await running.wait_for_card(name)
        where = next(c for c in fake.controls(card) if c.label.startswith("Lay"))
        shown = (await fake.select(name, card, where.custom_id, where.options[0].name)).message
        look = next(c for c in fake.controls(shown) if c.kind == "select")
        await fake.select(name, shown, look.custom_id, look.options[0].name)
        await fake.wait_until(lambda: "Lay" in labels(fake, shown), "a closer look")
        assert "Costs" in shown.text and "best run" in shown.text and fake.shown_images(shown)
        await fake.click(name, shown, "Back")
        await fake.wait_until(lambda: "Lay 1" in labels(fake, shown), "all ways")
        played = await running.played_lines()
        await fake.click(name, shown, "Lay 1")
        await fake.wait_until(lambda: "Done." in shown.text, "the lay")
        assert len(await running.played_lines()) == len(played) + 1


async def test_the_whole_map_is_one_press_away(running: RunningBot, fake: FakeDiscord) -> None:
    """Of a card in a company's turn; anybody may press, and a run is drawn however often it is asked for."""
    state = await reach(running, lambda state: getattr(state.stack[-1], "step", "") == "dividend")
    async with running.online() as service:
        card = await running.wait_for_card(actor(state))
        other = next(each for each in game().players if each != actor(state))
        done = await fake.click(other, card, "Whole map")
        assert [each.filename for each in fake.shown_images(done.private_messages[0])] == ["map-1.png"]
        view = await service.queries.view((await service.queries.find_table(running.table_code)).id)
        for since in (0, view.seq):
            (drawn,) = await turn_pictures(service.queries, DrawnHere(), view, since)
            assert "Route 1: " in drawn.picture.alt


async def test_a_plan_is_made_and_played_by_presses(running: RunningBot, fake: FakeDiscord) -> None:
    state = await reach(running, begins_a_turn)
    name = actor(state)
    async with running.online():
        card = await running.wait_for_card(name)
        played = await running.played_lines()
        plan = (await fake.click(name, card, "Try…")).message
        step = next(c for c in fake.controls(plan) if c.label.startswith("Try: Lay"))
        await fake.select(name, plan, step.custom_id, step.options[0].name)
        await fake.wait_until(lambda: "Play this" in labels(fake, plan), "the plan")
        assert "Standings:" in plan.text and fake.shown_images(plan)
        again = next(c for c in fake.controls(plan) if c.label.startswith("Try: "))
        await fake.select(name, plan, again.custom_id, again.options[0].name)
        await fake.wait_until(lambda: "2. " in plan.text, "a second step")
        assert await running.played_lines() == played, "nothing is played"
        await fake.click(name, plan, "Play this")
        await fake.wait_until(lambda: "Done." in plan.text, "the moves")
        assert len(await running.played_lines()) == len(played) + 2


async def test_a_company_is_started_with_two_menus_and_a_form(running: RunningBot, fake: FakeDiscord) -> None:
    """Company, place, and the first bid (1817 §5.5); a bid that is not possible is asked for again."""

    def may_start(state: engine.State) -> bool:
        in_stock_round = engine.round_name(state).startswith("stock")
        return in_stock_round and any(c.line.startswith("start ") for c in choices(state))

    name = actor(await reach(running, may_start, "1817"))
    async with running.online():
        card = await running.wait_for_card(name)
        menu = next(c for c in fake.controls(card) if c.label.startswith("Start"))
        shown = await fake.select(name, card, menu.custom_id, "A&S")
        places = fake.controls(shown.message)[0]
        form = await fake.select(name, shown.message, places.custom_id, "Start the A&S in Lansing (B5)…")
        assert form.modal
        await fake.submit_modal(name, form.modal, {"Dollars": "90"})
        await fake.wait_until(lambda: "from $100 to $400" in shown.message.text, "an answer")
        await fake.fill_in(name, shown.message, "Enter another amount…", {"Dollars": "105"})
        await fake.wait_until(lambda: "Done." in shown.message.text, "the start")
        assert (await running.played_lines())[-1] == "start A&S B5 105"
