"""Stock rounds: turns, trades, prices."""
