"""Stock rounds: turns, floating, price protection, short selling, treasury shares."""
