"""Who is told what, where and when.

`notify` has the rules: where a notification of each kind goes, when, and whether it pings. The messages are
made by `commit_messages` (what a move or another commit tells: turns, news, the answer to an offer),
`clock_messages` (reminders, the end of a time) and `messages` (all others, and what they have in common).
`ending` makes the page that everybody reads when a game is over. `preferences` is what people have set.
Discord has the last word on a ping: none for a player who has acted meanwhile
(`bot.discord.cards.card_keeper`).
"""
