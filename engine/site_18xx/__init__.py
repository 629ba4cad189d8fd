"""Games of 18xx.games: reading and writing the site's game files.

`game_file` is the format, `replay` plays a file through this engine, `export` writes one. The modules
`codecs_*` have for each action of the site how it is decoded and encoded; `action_codec` is what a codec is,
and `codec_registry` the table of all. `piece_numbering` knows which numbered certificate, train, tile, loan
and token slot the site means.
"""
