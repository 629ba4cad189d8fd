"""`railpost bench`: how fast Railpost is, measured on whole games.

The games are those of a folder and random ones. Each is played line by line as at a table: parsed, checked,
played, advanced; files of 18xx.games are also replayed. Then every position is asked what a table asks of it,
with all caches of the rules cleared, so that a result is what a service pays that has just been started; a
service that has already served the table answers sooner. The final positions are also searched with the
longest trains. At the end tables at all stages of the games are opened in a store in a file, and played on
all at once.

Times of one thread are processor time, which is disturbed least by other processes; what waits for the disk
is also measured by the clock. Nothing here passes or fails: a target stands beside each result, and a result
that misses it is marked.
"""

from bot.tools.benchmark.bench import command

__all__ = ["command"]
