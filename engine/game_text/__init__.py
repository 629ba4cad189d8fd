"""Games as text files (`.18xx`): a position to start from, moves, refusals, and checkpoints.

`read_script` parses a text, `set_up_position` makes a position of its set-up lines, `compare_checkpoint`
compares a checkpoint with a position, `replay` plays a whole text, and `write_script` writes one.
"""

from engine.game_text.checkpoints import compare_checkpoint, current_checkpoints
from engine.game_text.history import GameHistory, HistoryLine
from engine.game_text.position import set_up_position
from engine.game_text.replay import ReplayReport, replay
from engine.game_text.script import ScriptError, read_script, write_script
