"""The site's actions beside our decisions: one table, for files that come in and that go out."""

from __future__ import annotations

from engine.core.actions import Action
from engine.game import Game
from engine.site_18xx import codecs_companies, codecs_deals, codecs_turns
from engine.site_18xx.codec import ActionCodec, ActionRecord, EncodingContext
from engine.site_18xx.names import SiteNames
from engine.site_18xx.numbering import PieceNumbering

CODECS: dict[str, ActionCodec] = {
    form.action_type: form for form in (*codecs_deals.CODECS, *codecs_turns.CODECS, *codecs_companies.CODECS)
}
"""By the kind of action; a kind that is not here is none of these titles."""
ENCODERS = {action: write for form in CODECS.values() for action, write in form.encoders.items()}
"""How each decision is written; a decision that is not here has no counterpart there."""


def encode_action(
    g: Game, names: SiteNames, ledger: PieceNumbering, seat: str, action: Action
) -> list[ActionRecord]:
    """The actions of the site for what that seat does now; without ids and times.

    Raises KeyError for what has no counterpart there.
    """
    found = ENCODERS[type(action)](EncodingContext(g, names, ledger), seat, action)
    return found if isinstance(found, list) else [found]
