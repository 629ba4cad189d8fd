"""What players have left beforehand for themselves alone: how far they would bid, what they would protect.

It is part of the position, because the rules act on it, and of no view of it but its owner's.
"""

from __future__ import annotations

import msgspec

from engine.state import AnyFrame, Auction, State, copied


def as_seen(state: State, viewer: str | None) -> State:
    """A copy of the position without what others than that seat (None: than nobody) have left in secret.

    Played on from here, whoever has left an answer is asked instead.
    """
    seen = copied(state)
    seen.standing = {seat: left for seat, left in seen.standing.items() if seat == viewer}
    seen.stack = [_as_seen(frame, viewer) for frame in seen.stack]
    return seen


def _as_seen(frame: AnyFrame, viewer: str | None) -> AnyFrame:
    if not isinstance(frame, Auction):
        return frame
    return msgspec.structs.replace(
        frame, limits={seat: most for seat, most in frame.limits.items() if seat == viewer}
    )
