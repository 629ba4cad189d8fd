"""How options and the site's conventions change the printed components of 1817."""

from __future__ import annotations

import msgspec

from engine.core.components import Components, PhaseDefinition, components_of


def composed_components(*, site: bool, more_players: bool, modern_trains: bool) -> Components:
    """The components under these options.

    The site has a phase of its own for the 2+ trains and counts privates at the end.
    """
    components = components_of("1817")
    if more_players and components.more_players:
        more = components.more_players
        components = msgspec.structs.replace(
            components,
            players=components.players | {"max": more.max},
            starting_cash=components.starting_cash | more.starting_cash,
            cert_limit=components.cert_limit | more.cert_limit,
        )
    if not modern_trains:
        components = msgspec.structs.replace(components, own_station_bonus={})
    if site:
        first, *others = components.phases
        between: PhaseDefinition = msgspec.structs.replace(first, name="2+", on="2+")
        components = msgspec.structs.replace(
            components, phases=(first, between, *others), privates_count_in_net_worth=True
        )
    return components
