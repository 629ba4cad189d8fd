"""The computer player: it judges what a seat may do, plays its plans on, and says why.

`robot.Robot` is the whole of it for callers. It looks at a position without the hidden orders of others and
returns one of the legal options. It has no clock and no random numbers of its own, so the same position, seed
and number of projections give the same move on every machine.
"""
