"""Standing orders: what players leave beforehand, so that the table does not wait for them.

What an order is and what it says: `engine.standing_orders`, whose docstring is the overview. Here: the
command `auto` (`feature`), the orders of a table as they are stored and what a line about them means
(`book`), their run in the commit of a move (`runner`), and what their owner reads and presses (`pages`).
"""
