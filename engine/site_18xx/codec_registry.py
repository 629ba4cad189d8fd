"""All codecs of the site's actions in one table, for import and export."""

from __future__ import annotations

from engine.core.actions import Action
from engine.game import Game
from engine.site_18xx import codecs_companies, codecs_connections, codecs_deals, codecs_turns
from engine.site_18xx.action_codec import ActionCodec, EncodingContext
from engine.site_18xx.game_file import ActionRecord, NoCounterpartError
from engine.site_18xx.names import SiteNames
from engine.site_18xx.piece_numbering import PieceNumbering

CODECS: dict[str, ActionCodec] = {
    codec.action_type: codec
    for codec in (
        *codecs_deals.CODECS,
        *codecs_turns.CODECS,
        *codecs_companies.CODECS,
        *codecs_connections.CODECS,
    )
}
"""By the type of the site's action. A type that is not here is used by none of our titles."""
ENCODERS = {
    action: (codec.action_type, encode)
    for codec in CODECS.values()
    for action, encode in codec.encoders.items()
}
"""By the type of our action that of the site's, and the encoder. One that is not here has no counterpart."""
NO_SUCH_ACTION = "the site has no such action."


def encode_action(
    g: Game, names: SiteNames, numbering: PieceNumbering, seat: str, action: Action
) -> list[ActionRecord]:
    """The site's records for an action of that seat in the current position, without ids and times.

    Raises NoCounterpartError for an action without a counterpart on the site.
    """
    if type(action) not in ENCODERS:
        raise NoCounterpartError(NO_SUCH_ACTION)
    action_type, encode = ENCODERS[type(action)]
    encoded = encode(EncodingContext(g, names, numbering), seat, action)
    records = encoded if isinstance(encoded, list) else [encoded]
    return [{"type": action_type, **record} for record in records]
