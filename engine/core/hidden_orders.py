"""What players have left beforehand for themselves alone: how far they would bid, what they would protect.

It is part of the position, because the rules act on it, and of no view of it but its owner's.
"""

from __future__ import annotations

import msgspec

from engine.core.state import AnyFrame, Auction, State, copy_state


def visible_to(state: State, viewer: str | None) -> State:
    """A copy of the position without what others than that seat (None: than nobody) have left in secret.

    Played on from here, whoever has left an answer is asked instead.
    """
    seen = copy_state(state)
    seen.standing_protections = {
        seat: left for seat, left in seen.standing_protections.items() if seat == viewer
    }
    seen.stack = [_frame_visible_to(frame, viewer) for frame in seen.stack]
    return seen


def _frame_visible_to(frame: AnyFrame, viewer: str | None) -> AnyFrame:
    if not isinstance(frame, Auction):
        return frame
    return msgspec.structs.replace(
        frame, bid_limits={seat: most for seat, most in frame.bid_limits.items() if seat == viewer}
    )
