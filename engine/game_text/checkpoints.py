"""Checkpoints: the expected value beside the actual one, both as text in the same words.

Every reader reads the words of its line and returns both. A checkpoint holds where they are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from engine.core.state import (
    BANK,
    POOL,
    TREASURY,
    Auction,
    BuyerChoice,
    Company,
    MergerPoll,
    MergerRound,
    MergerTurn,
    OperatingRound,
    PostMergerTrade,
    State,
    StockRound,
    StockTurn,
)
from engine.core.words import dollars, join_words
from engine.finance.ownership import certificate_limit, share_percent, source_holder
from engine.game import Game
from engine.game_text.setup import UNPRICED_ZONES, zone_cell
from engine.game_text.word_reader import NONE, WordReader
from engine.kernel import awaited_seats, game_of
from engine.mergers.merger_rounds import MergerRoundRules, companies_able_to_act
from engine.operating.run import best_run
from engine.operating.trains import trains_for_sale
from engine.rounds.sequence import OperatingRoundRules

Comparison = tuple[str, str]
"""(expected, actual)."""
Checkpoint = Callable[[Game, WordReader], Comparison]


def compare_checkpoint(state: State, text: str) -> Comparison:
    """The expected and the actual value of a checkpoint. Raises InvalidLineError where it cannot be read."""
    g = game_of(state)
    words = WordReader(g, text)
    comparison = CHECKPOINTS[words.expect(*CHECKPOINTS)](g, words)
    words.expect_end()
    return comparison


def _text_or_none(number: int | None) -> str:
    return NONE if number is None else str(number)


def _joined_or_none(things: Iterable[str]) -> str:
    return " ".join(things) or NONE


def _in_dollars(words: WordReader) -> str:
    return dollars(words.amount())


def _count_of(things: str) -> Callable[[WordReader], str]:
    return lambda words: str(words.amount(f"a number of {things}"))


def _or_none(expected: Callable[[WordReader], str]) -> Callable[[WordReader], str]:
    return lambda words: words.accept(NONE) or expected(words)


def _of_game(expected: Callable[[WordReader], str], actual: Callable[[Game], str]) -> Checkpoint:
    """A checkpoint that says one thing of the game."""
    return lambda g, words: (expected(words), actual(g))


def _of_company(expected: Callable[[WordReader], str], actual: Callable[[Company], str]) -> Checkpoint:
    """A checkpoint that says one thing of a company."""

    def compare(g: Game, words: WordReader) -> Comparison:
        company = g.company(words.company())
        return expected(words), actual(company)

    return compare


def _among(hexes: Callable[[State], Collection[str]]) -> Checkpoint:
    """A checkpoint that names a hex which is one of those."""

    def compare(g: Game, words: WordReader) -> Comparison:
        hex = words.hex()
        return hex, hex if hex in hexes(g.state) else NONE

    return compare


def _cash(g: Game, words: WordReader) -> Comparison:
    who = words.cash_holder()
    return dollars(words.amount()), dollars(g.cash(who))


def _owns(g: Game, words: WordReader) -> Comparison:
    holder, company = words.shareholder(), words.company()
    held = g.percent_held(source_holder(company, holder), company)
    return str(words.amount("a number of shares")), str(held // share_percent(g, company))


def _president(g: Game, words: WordReader) -> Comparison:
    president = g.company(words.company()).president
    expected = words.accept(NONE) or g.state.name(words.player())
    return expected, g.state.name(president) if president else NONE


def _private(g: Game, words: WordReader) -> Comparison:
    owner = g.state.private_owners[words.private()]
    return g.state.name(words.private_owner()), g.state.name(owner)


def _price(g: Game, words: WordReader) -> Comparison:
    co = g.company(words.company())
    if zone := words.accept(*UNPRICED_ZONES):
        return f"{zone} {zone_cell(words, zone)[1]}", _zone_or_price(g, co.cell, zone)
    expected = words.accept(NONE) or dollars(words.amount())
    actual = dollars(g.title.cell(co.cell).price) if co.cell else NONE
    if words.has_more:
        expected += f" in row {words.amount('a row of the market, from 0')}"
        actual += f" in row {co.cell[0]}" if co.cell else ""
    return expected, actual


def _zone_or_price(g: Game, space: tuple[int, int] | None, zone: str) -> str:
    """The market space of a token: by the zone if it is in that one, else by its price."""
    if space is None:
        return NONE
    cell = g.title.cell(space)
    return f"{zone} {space[1]}" if zone in cell.zones else dollars(cell.price)


def _trains(g: Game, words: WordReader) -> Comparison:
    if words.accept(BANK):
        train, left = _train_for_sale(g)
        return _joined_or_none(words.trains()), _joined_or_none([train] * (left or 1) if train else [])
    owned = g.state.pool_trains if words.accept(POOL) else g.company(words.company()).trains
    order = list(g.title.trains)
    return _joined_or_none(words.trains()), _joined_or_none(sorted(owned, key=order.index))


def _train_for_sale(g: Game) -> tuple[str | None, int | None]:
    """The type of train that the bank sells, and how many are left; None where it is unlimited."""
    train = next(iter(trains_for_sale(g)), None)
    return train, g.state.depot[train] if train else 0


def _depot(g: Game, words: WordReader) -> Comparison:
    train, left = _train_for_sale(g)
    expected = words.accept(NONE) or words.train()
    if words.has_more:
        expected += f" {words.amount('a number of trains')}"
    elif left is not None:
        left = None
    return expected, NONE if train is None else train if left is None else f"{train} {left}"


def _tile(g: Game, words: WordReader) -> Comparison:
    laid = g.state.tiles.get(words.hex())
    expected = words.accept(NONE) or f"#{words.tile()}"
    actual = f"#{laid[0]}" if laid else NONE
    if words.has_more:
        expected += f" turned {words.amount('a rotation from 0 to 5')}"
        actual += f" turned {laid[1]}" if laid else ""
    return expected, actual


def _token(g: Game, words: WordReader) -> Comparison:
    """Tokens on the map: those named must be there. `markers` counts the others."""
    company = words.company()
    placed = [
        (hex, node) for hex, tokens in g.state.tokens.items() for node, owner in tokens if owner == company
    ]
    actual = _joined_or_none(hex if node <= 0 else f"{hex}.{node}" for hex, node in placed)
    if words.accept(NONE):
        return NONE, actual
    named = [words.city()]
    while words.has_more:
        named.append(words.city())
    if all(any(h == hex and node in (None, n) for h, n in placed) for hex, node in named):
        return actual, actual
    return _joined_or_none(hex if node is None else f"{hex}.{node}" for hex, node in named), actual


def _rounds_left(g: Game) -> int | None:
    """Operating rounds still to come after this one; None before the end is in sight, and after it."""
    if g.state.game_over:
        return None
    mergers = g.title.questions.get(MergerRound)
    if isinstance(mergers, MergerRoundRules):
        return mergers.game_length.rounds_left(g)
    rounds = g.title.questions[OperatingRound]
    assert isinstance(rounds, OperatingRoundRules)
    return rounds.rounds_left(g) if g.state.bank_broken else None


def _capital(co: Company) -> str:
    has = "awaits" if co.awaits_capital else "has" if co.floated else "has not floated, so it has not"
    return f"{has} its capital"


def _round(g: Game, words: WordReader) -> Comparison:
    kind = words.expect("opening", "stock", "operating", "merger", "sale", "over")
    expected, actual = [kind], _current_round(g)
    if kind == "stock" and words.has_more:
        expected.append(g.state.name(words.player()))
    elif kind in ("operating", "merger", "sale") and words.has_more:
        expected.append(words.company())
        expected.append(str(words.amount("the number of the round in its set")) if words.has_more else "1")
    if len(expected) == 1:
        actual = actual[:1]
        if kind == "merger" and actual == ["sale"]:  # a sale is a part of a merger round
            actual = ["merger"]
    return " ".join(expected), " ".join(actual)


def _current_round(g: Game) -> list[str]:
    """The round in words, with the player or company to act in it.

    A merger round is `merger` while companies convert and merge, and `sale` afterwards.
    """
    if g.state.game_over:
        return ["over"]
    match g.state.stack[0]:
        case StockRound(current_seat=current_seat):
            seat = next((f.seat for f in g.state.stack if isinstance(f, StockTurn)), current_seat)
            return ["stock", g.state.name(seat)]
        case OperatingRound(number=number):
            return ["operating", deciding_company(g) or "?", str(number)]
        case MergerRound(number=number, stage=stage):
            kind = "merger" if stage == "convert" else "sale"
            return [kind, _merging_company(g) or "?", str(number)]
    return ["opening"]


def _merging_company(g: Game) -> str | None:
    """The company whose turn it is in a merger round, or that is sold."""
    for frame in g.state.stack[1:]:
        match frame:
            case MergerTurn(company=company) | BuyerChoice(company=company):
                return company
            case Auction(item=company) if company in g.state.companies:
                return company
    return deciding_company(g)


def deciding_company(g: Game) -> str | None:
    """The company that the current question is about.

    While presidents are asked whether they will act in a merger round, it is the first company that can.
    """
    base = g.state.stack[0]
    if isinstance(g.top, MergerPoll) and isinstance(base, MergerRound):
        seats = seats_to_act(g)
        return next((c for c in companies_able_to_act(g, base) if g.president(c) in seats), None)
    return getattr(g.top, "company", None)


def seats_to_act(g: Game) -> tuple[str, ...]:
    """The seats whose answer the game needs next: not those who may only answer in advance.

    In an auction that is the next bidder, and of several presidents who are asked whether they will act in
    a merger round the one whose company comes first.
    """
    asked = g.title.questions[type(g.top)].asked(g, g.top)
    in_advance = asked[1:] if isinstance(g.top, Auction | PostMergerTrade | MergerPoll) else ()
    offered = [seat for activity in g.title.out_of_turn_awaiting for seat in activity.asked(g)]
    return tuple(seat for seat in awaited_seats(g) if seat not in in_advance or seat in offered)


def _turn(g: Game, words: WordReader) -> Comparison:
    who = words.actor()
    company = words.company() if words.has_more else None
    seats = () if g.state.game_over else seats_to_act(g)
    actual = join_words([g.state.name(s) for s in seats]) or "nobody"
    if deciding_company(g):
        actual += f" for the {deciding_company(g)}"
    holds = (who in seats or who == deciding_company(g)) and company in (None, deciding_company(g))
    expected = g.state.name(who) + (f" for the {company}" if company else "")
    return actual if holds else expected, actual


def _best(g: Game, words: WordReader) -> Comparison:
    company = words.company()
    return dollars(words.amount()), dollars(best_run(g, company).revenue)


def _score(g: Game, words: WordReader) -> Comparison:
    seat = words.player()
    bankrupt = g.state.game_over.bankrupt if g.state.game_over else None
    return dollars(words.amount()), dollars(g.title.scores(g, bankrupt)[seat])


def _destination(g: Game, words: WordReader) -> Comparison:
    actual = g.state.destination_tokens.get(words.company(), NONE)
    return words.accept(NONE) or words.hex(), actual


def _city_token(g: Game, words: WordReader) -> Comparison:
    words.position -= 1
    private, opened = words.city_token()
    here = g.state.city_tokens.get(private)
    expected = words.accept(NONE) or f"{words.hex()} {words.company()} {opened}"
    return expected, f"{here.hex} {here.company} {here.is_open}" if here else NONE


CHECKPOINTS: dict[str, Checkpoint] = {
    "cash": _cash,
    "owns": _owns,
    "president": _president,
    "private": _private,
    "price": _price,
    "par": _of_company(_or_none(_in_dollars), lambda co: NONE if co.par is None else dollars(co.par)),
    "trains": _trains,
    "depot": _depot,
    "tile": _tile,
    "token": _token,
    "markers": _of_company(_count_of("tokens"), lambda co: str(co.unplaced_tokens)),
    "phase": _of_game(WordReader.phase, lambda g: g.state.phase),
    "priority": _of_game(
        lambda words: words.g.state.name(words.player()), lambda g: g.state.name(g.state.priority)
    ),
    "left": _of_game(_or_none(_count_of("rounds")), lambda g: _text_or_none(_rounds_left(g))),
    "limit": _of_game(_count_of("certificates"), lambda g: str(certificate_limit(g))),
    "round": _round,
    "turn": _turn,
    "best": _best,
    "destination": _destination,
    "cattle": _city_token,
    "port": _city_token,
    "connected": _of_company(
        lambda _: "connected", lambda co: "connected" if co.connected else "not connected"
    ),
    "closed": _of_company(lambda _: "closed", lambda co: "closed" if co.closed else "open"),
    "awaits": _of_company(lambda _: "awaits its capital", _capital),
    "over": _of_game(lambda _: "over", lambda g: "over" if g.state.game_over else "not over"),
    "size": _of_company(_or_none(_count_of("shares")), lambda co: _text_or_none(co.size)),
    "loans": _of_company(_count_of("loans"), lambda co: str(co.loans)),
    "interest": _of_game(_in_dollars, lambda g: dollars(g.state.interest_per_loan)),
    "mine": _among(lambda state: state.mine_hexes),
    "bridge": _among(lambda state: state.bridge_hexes),
    "score": _score,
}


def current_checkpoints(state: State) -> list[str]:
    """Checkpoints that hold now: money, prices, shares, trains, tokens, phase, and the final scores."""
    g = game_of(state)
    checkpoints = [f"cash {state.name(who)} {amount}" for who, amount in state.cash.items()]
    for company, co in state.companies.items():
        if co.cell is None:
            continue
        if co.awaits_capital:
            checkpoints.append(f"awaits {company}")
        checkpoints.append(f"price {company} {g.price(company)} {co.cell[0]}")
        if co.size is not None:
            checkpoints += [f"size {company} {co.size}", f"loans {company} {co.loans}"]
        for holder, percent in co.shares.items():
            name = TREASURY if holder == company else state.name(holder)
            checkpoints.append(f"owns {name} {company} {percent // share_percent(g, company)}")
        checkpoints.append(
            f"trains {company} {_joined_or_none(sorted(co.trains, key=list(g.title.trains).index))}"
        )
        checkpoints.append(f"markers {company} {co.unplaced_tokens}")
    checkpoints.append(f"phase {state.phase}")
    if state.game_over:
        scores = g.title.scores(g, state.game_over.bankrupt)
        checkpoints += [f"score {state.name(seat)} {score}" for seat, score in scores.items()] + ["over"]
    return checkpoints
