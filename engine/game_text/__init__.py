"""Games as text files: positions, moves, what must be refused and what must hold.

`read` gives the lines their types, `place` makes a position of the set-up lines, `compared` holds a
checkpoint against a position, `replay` plays a whole text, `write` makes one.
"""

from engine.game_text.checkpoints import compare_checkpoint, current_checkpoints
from engine.game_text.history import GameHistory, HistoryLine
from engine.game_text.position import set_up_position
from engine.game_text.private_deal import deal_lines
from engine.game_text.replay import ReplayFailure, ReplayReport, replay
from engine.game_text.script import Script, ScriptError, read_script, write_script

__all__ = [
    "GameHistory",
    "HistoryLine",
    "ReplayFailure",
    "ReplayReport",
    "Script",
    "ScriptError",
    "compare_checkpoint",
    "current_checkpoints",
    "deal_lines",
    "read_script",
    "replay",
    "set_up_position",
    "write_script",
]
