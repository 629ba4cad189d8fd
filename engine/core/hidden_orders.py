"""Orders that players leave in advance and nobody else is shown: bid limits and standing protections.

They are part of the position, because the rules act on them, and of no view of it but their owner's. Orders
that begin with `auto` are no part of it (`engine.standing_orders`).
"""

from __future__ import annotations

import msgspec

from engine.core.state import AnyFrame, Auction, State, copy_state


def visible_to(state: State, viewer: str | None) -> State:
    """A copy of the position without the hidden orders of others than that seat (None: without any).

    If the game is played on from that copy, a player who had left an order is asked instead.
    """
    visible = copy_state(state)
    visible.standing_protections = {
        seat: limits for seat, limits in visible.standing_protections.items() if seat == viewer
    }
    visible.stack = [_frame_visible_to(frame, viewer) for frame in visible.stack]
    return visible


def _frame_visible_to(frame: AnyFrame, viewer: str | None) -> AnyFrame:
    if not isinstance(frame, Auction):
        return frame
    return msgspec.structs.replace(
        frame, bid_limits={seat: limit for seat, limit in frame.bid_limits.items() if seat == viewer}
    )
