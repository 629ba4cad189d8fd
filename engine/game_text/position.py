"""Positions from set-up lines.

All lines are read into a `Setup` first, whatever their order. The position is then built part by part,
each part after those it depends on: phase, shares, trains, privates, tiles, tokens, money, round. Each
part fills in what the lines leave out and refuses what no game can lead to. Finally the frame of the
round is pushed on the stack and the game advances as usual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from engine.core.state import BANK, CLOSED, PrivateAllotment, State, copy_state, is_seat
from engine.core.words import dollars
from engine.game import Game
from engine.game_text.position_companies import set_shares
from engine.game_text.position_map import (
    add_slots,
    check_cities,
    check_tile_supply,
    set_city_tokens,
    set_destination,
    set_tile,
    set_tokens,
)
from engine.game_text.position_rounds import set_round
from engine.game_text.position_trains import set_depot, set_phase, set_privates, set_trains
from engine.game_text.script import ScriptError, SetupLine
from engine.game_text.setup import Setup, read_setup_line
from engine.game_text.word_reader import InvalidLineError, WordReader
from engine.kernel import advance, game_of, new_game
from engine.opening.allotment import permutation


def set_up_position(start: State, lines: Sequence[SetupLine]) -> State:
    """The position that the set-up lines describe, in the game that begins with `start`.

    Lines about money alone leave the game in its opening, as do lines about the deal of privates in a
    title that has one. Raises ScriptError for a line that cannot be read or describes the impossible.
    """
    if not lines:
        return start
    setup, g = Setup(), game_of(copy_state(start))
    seen: dict[tuple[str, ...], int] = {}
    for number, text in lines:
        try:
            key = read_setup_line(setup, WordReader(g, text))
            if key in seen:
                raise InvalidLineError(f"This repeats line {seen[key]}.")
        except InvalidLineError as error:
            raise ScriptError(number, str(error)) from None
        seen[key] = number
        setup.line_numbers |= {(word, subject): number for subject in key[1:] for word in (key[0], "")}
    try:
        keywords = {key[0] for key in seen}
        has_deal = isinstance(start.stack[0], PrivateAllotment)
        if keywords <= ({"cash", "private"} if has_deal else {"cash"}):
            g = game_of(start_with_deal(start, setup.privates)) if setup.privates else g
            _set_cash(g, setup, g.state.cash)
        else:
            _build(g, setup)
    except InvalidLineError as error:
        raise ScriptError(
            setup.line_about(error.subject, error.keyword) or lines[-1].line, str(error)
        ) from None
    return g.state


def _build(g: Game, setup: Setup) -> None:
    """Turn the game at its first question into the position that the lines describe."""
    set_phase(g, setup)
    setup.applied = "owns"
    for company in g.state.companies:
        set_shares(g, setup, company)
    g.state.market_order = [c for c in setup.market_order if g.company(c).cell]
    setup.applied = "trains"
    set_trains(g, setup)
    set_depot(g, setup)
    setup.applied = "private"
    set_privates(g, setup)
    setup.applied = "tile"
    for hex in setup.tiles:
        set_tile(g, setup, hex)
    check_tile_supply(g)
    setup.applied = "token"
    for company in g.state.companies:
        set_tokens(g, setup, company)
        set_destination(g, setup, company)
    set_city_tokens(g, setup)
    add_slots(g)
    check_cities(g, setup)
    setup.applied = "cash"
    _set_cash(g, setup, dict.fromkeys(g.state.cash, 0))
    set_round(g, setup)
    try:
        advance(g)
    except RuntimeError:
        raise InvalidLineError("Nobody has anything to do in this position, now or later.", "round") from None


def _set_cash(g: Game, setup: Setup, unnamed: dict[str, int]) -> None:
    """Set all cash. `unnamed`: dollars of those without a line. The bank has the rest."""
    total = sum(g.state.cash.values())
    cash = unnamed | setup.cash
    for who, amount in cash.items():
        if who == BANK:
            continue
        if amount < 0:
            raise InvalidLineError(f"{g.state.name(who)} cannot have {dollars(amount)}.", who)
        if amount and who in g.state.companies and not g.company(who).floated:
            raise InvalidLineError(f"The {who} has not floated, so it has no money.", who)
        if amount and who in setup.awaiting:
            raise InvalidLineError(f"The {who} awaits its capital, so it has no money.", who)
    outside_bank = sum(amount for who, amount in cash.items() if who != BANK)
    cash[BANK] = setup.cash.get(BANK, total - outside_bank)
    if g.components.bank is None:
        g.state.cash = cash
        return
    if cash[BANK] < 0 and setup.rounds_left is None:
        subject = BANK if BANK in setup.cash else next(reversed(setup.cash))
        raise InvalidLineError(
            f"The bank would have {dollars(cash[BANK])}; there are ${total:,} in all.", subject
        )
    if cash[BANK] + outside_bank > total:
        raise InvalidLineError(
            f"${cash[BANK] + outside_bank:,} are named; there are ${total:,} in all.", BANK
        )
    g.state.cash = cash


def deal_lines(start: State) -> list[str]:
    """The set-up words of the deal with which a game started; empty in a title without a deal."""
    if not isinstance(start.stack[0], PrivateAllotment):
        return []
    return [
        f"private {p} {start.name(owner)}" for p, owner in start.private_owners.items() if owner != CLOSED
    ]


def start_with_deal(start: State, owners: Mapping[str, str]) -> State:
    """The game at its first question with the privates dealt to these owners.

    `owners`: seats by private; the other players get the remaining privates in printed order. Raises
    InvalidLineError for a deal that is impossible.
    """
    in_play = [p for p, owner in start.private_owners.items() if owner != CLOSED]
    order: list[str | None] = [None] * len(start.players)
    for private, owner in owners.items():
        if private not in in_play:
            raise InvalidLineError(
                f"The {private} is not in play with {len(start.players)} players.", private
            )
        if not is_seat(owner):
            raise InvalidLineError(f"Only a player can be dealt the {private}.", private)
        if (other := order[start.seats.index(owner)]) is not None:
            raise InvalidLineError(
                f"{start.name(owner)} is dealt one private only, and already has the {other}.", private
            )
        order[start.seats.index(owner)] = private
    rest = (p for p in in_play if p not in order)
    deal = tuple(private or next(rest) for private in order)
    seed = next(seed for seed in count() if permutation(in_play, seed) == deal)
    return new_game(start.title, start.players, start.options, seed).state
