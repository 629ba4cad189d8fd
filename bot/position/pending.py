"""Who has to decide, and what. Seats are numbers here, and names such as `p0` in the engine."""

from __future__ import annotations

import msgspec

import engine


def engine_seat(seat: int) -> str:
    """The engine's name of a seat, `p0` for 0."""
    return f"p{seat}"


def seat_number(engine_name: str) -> int:
    """The number of a seat by the engine's name."""
    return int(engine_name[1:])


MAX_STEPS = 12


def next_seat(state: engine.State) -> int | None:
    """The seat that is asked after the one that is asked now, if that one does little; None if it cannot be
    said, and while several are asked."""
    if state.game_over:
        return None
    asked = engine.decision(state).asked
    if len(asked) != 1:
        return None
    now, position = asked[0], state
    for _ in range(MAX_STEPS):
        lines = engine.legal_lines(position, now)
        line = "pass" if "pass" in lines else next(iter(lines), None)
        if line is None:
            return None
        if (played := engine.try_line(position, now, line)) is None:
            return None
        position = played.state
        if position.game_over:
            return None
        after = engine.decision(position).asked
        if now not in after:
            return seat_number(after[0]) if len(after) == 1 else None
    return None


class PendingDecision(msgspec.Struct, frozen=True):
    """A decision that the table waits for.

    seat, name: who decides. decision_id: what a command refers to when it answers this decision. is_main:
    False for an offer that is open at the same time as the question of the game. acts_now: False if the
    player may only leave an order for their later turn. offers: the numbers of the offers that are open to
    the player. What is asked is worded when somebody reads it, see `prompt_of`.
    """

    seat: int
    name: str
    decision_id: str
    is_main: bool = True
    acts_now: bool = True
    offers: tuple[int, ...] = ()


def is_offer(decision_id: str) -> bool:
    """Whether a decision is an offer that is open beside the question of the game."""
    return ".o" in decision_id


def pending_decisions(position: engine.State | engine.Game, rewind_count: int) -> tuple[PendingDecision, ...]:
    """Whom a position waits for, those of the main question first."""
    g = engine.game_of(position)
    state = g.state
    if state.game_over:
        return ()
    decision = engine.decision(g)
    pending, answerable = [], engine.answerable_offers(g)
    for name in decision.awaited:
        is_main = name in decision.asked
        numbers = tuple(offer.number for offer in answerable if offer.recipient == name)
        question = str(state.question_number) if is_main or not numbers else f"o{numbers[0]}"
        acts_now = not is_main or name in decision.acting
        decision_id = f"{rewind_count}.{question}"
        seat, full_name = seat_number(name), state.name(name)
        pending.append(PendingDecision(seat, full_name, decision_id, is_main, acts_now, numbers))
    return tuple(pending)


def prompt_of(state: engine.State, pending: PendingDecision) -> str:
    """What a decision asks, as an imperative phrase: `lay track for the PRR`. state: the position of it."""
    return engine.prompt(state) if pending.is_main else f"accept or decline ({offers_text(state, pending)})"


def offers_text(state: engine.State, pending: PendingDecision) -> str:
    """The offers that are open to a player: `the SV from Ann to the PRR for $30`."""
    g = engine.game_of(state)
    offers = [offer for offer in state.offers if offer.number in pending.offers]
    return "; ".join(engine.offer_label(g, offer) for offer in offers)
