"""A table in memory at which players leave orders: what the tests of orders are written with."""

from __future__ import annotations

import engine
from engine.core.state import State
from engine.game_text import read_script, set_up_position
from engine.standing_orders import (
    ArmedOrder,
    EndedOrder,
    PlayedMove,
    format_order,
    order_preview,
    parse_order,
    run_orders,
)


class OrderTable:
    """A position, the orders that players have left, and what the orders have said and why they ended."""

    def __init__(
        self, title: str, setup: str = "", players: str = "Ann, Bob, Cid", options: tuple[str, ...] = ()
    ) -> None:
        header = [f"title {title}", f"players {players}", *(f"option {o}" for o in options), "---"]
        script = read_script("\n".join([*header, *(line.strip() for line in setup.splitlines())]))
        self.state: State = set_up_position(script.start, script.setup)
        self.armed: list[ArmedOrder] = []
        self.said: list[str] = []
        self.ended: list[str] = []
        self.orders_made = 0

    def seat(self, name: str) -> str:
        return self.state.seats[self.state.players.index(name)]

    def arm(self, name: str, line: str) -> str:
        """Leave an order, which speaks at once if it has something to say; returns its full line."""
        seat = self.seat(name)
        order = parse_order(engine.game_of(self.state), seat, line)
        self.orders_made += 1
        self.armed.append(ArmedOrder(self.orders_made, seat, order, engine.copy_state(self.state)))
        self._wake()
        return format_order(order)

    def preview(self, name: str, line: str) -> str:
        """What an order would say now."""
        seat = self.seat(name)
        order = parse_order(engine.game_of(self.state), seat, line)
        return order_preview(ArmedOrder(0, seat, order, engine.copy_state(self.state)), self.state)

    def say(self, *lines: str) -> None:
        """Play lines such as `Ann: pass`; orders answer after each."""
        for text in lines:
            name, _, line = text.partition(": ")
            full, self.state, events = engine.play_line(self.state, self.seat(name), line)
            move = PlayedMove(self.seat(name), full, events)
            self.armed = [each.with_move(move) for each in self.armed]
            self._wake()

    def _wake(self) -> None:
        run = run_orders(self.state, self.armed)
        self.state, self.armed = run.state, run.armed
        self.said += [f"{self.state.name(spoken.seat)}: {spoken.line}" for spoken in run.spoken]
        self.ended += [self._ended_text(each) for each in run.ended]

    def _ended_text(self, ended: EndedOrder) -> str:
        return f"{self.state.name(ended.seat)}: {ended.reason}"

    @property
    def asked(self) -> list[str]:
        """Who is asked now."""
        return [self.state.name(seat) for seat in engine.decision(self.state).awaited]
