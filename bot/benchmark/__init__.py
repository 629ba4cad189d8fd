"""How fast Railpost is, on games that were played: `railpost bench`.

Theory of operation. Everything is measured on whole games: those of a folder, and random ones. Each is
said line by line, as a table would hear it: read, judged, played, settled; files of the site are
replayed besides. Then every position is asked what a table asks of it, with everything forgotten
that the rules keep between moves, so that a figure is what a service pays that has just been started;
one that has served the table answers sooner. The last positions get the longest trains there are.
At last tables are opened in a store in a file, standing at all stages, and go on all at once.

Figures of one thread are processor time, which others who use the machine disturb least; what waits
for the disk is told by the clock too. Nothing here passes or fails: an aim stands beside its figure,
and a figure beyond it is marked.
"""

from bot.benchmark.bench import command

__all__ = ["command"]
