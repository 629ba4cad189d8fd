"""The site's actions beside our decisions: one table, for files that come in and that go out."""

from __future__ import annotations

from engine.actions import Action
from engine.game import Game
from engine.interchange import forms_companies, forms_deals, forms_turns
from engine.interchange.desk import Desk, Form, Record
from engine.interchange.ledger import Ledger
from engine.interchange.site_names import SiteNames

FORMS: dict[str, Form] = {
    form.kind: form for form in (*forms_deals.FORMS, *forms_turns.FORMS, *forms_companies.FORMS)
}
"""By the kind of action; a kind that is not here is none of these titles."""
WRITERS = {action: write for form in FORMS.values() for action, write in form.write.items()}
"""How each decision is written; a decision that is not here has no counterpart there."""


def written(g: Game, names: SiteNames, ledger: Ledger, seat: str, action: Action) -> list[Record]:
    """The actions of the site for what that seat does now; without ids and times.

    Raises KeyError for what has no counterpart there.
    """
    found = WRITERS[type(action)](Desk(g, names, ledger), seat, action)
    return found if isinstance(found, list) else [found]
