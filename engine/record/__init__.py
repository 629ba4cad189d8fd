"""Games as text files: positions, moves, what must be refused and what must hold.

`read` gives the lines their types, `place` makes a position of the set-up lines, `compared` holds a
checkpoint against a position, `replay` plays a whole text, `write` makes one.
"""

from engine.record.checks import compared, observed
from engine.record.deal import deal_of
from engine.record.position import place
from engine.record.replay import Failure, Report, replay
from engine.record.text import Malformed, Script, read, write

__all__ = [
    "Failure",
    "Malformed",
    "Report",
    "Script",
    "compared",
    "deal_of",
    "observed",
    "place",
    "read",
    "replay",
    "write",
]
