"""Games without a table: files in and out, self-play, measurements."""
