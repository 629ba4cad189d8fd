"""Standing orders: what players leave beforehand, so that the table does not wait for them.

What an order is and what it says: `engine.standing_orders`, whose docstring is the overview. Here: the
command `auto` (`feature`, `lines`), the orders of a table as they are stored (`book`), their run in the
commit of a move (`runner`), what their owner reads (`pages`), and what they add to the page of a turn
(`controls`).
"""
