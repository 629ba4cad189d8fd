"""The printed components of a title as immutable data: map, tiles, market, trains, companies.

`components_of` reads them once from `engine/titles/` and checks them; they never change. Coordinates are
those of the board (`H10`). Edges are numbered 0-5 clockwise, and edge e of a hex meets edge (e + 3) % 6 of
its neighbour. A tile in rotation r has every edge e of its definition at (e + r) % 6. Money is in dollars,
shares in percent of a company. The field names are the keys of the JSON files; an unknown key is an
error.
"""

from engine.core.components.coordinates import column_row
from engine.core.components.definitions import (
    Ability,
    BridgeAbility,
    CityTokenAbility,
    CoalMineAbility,
    Color,
    CompanyDefinition,
    Components,
    ExtraTokensAbility,
    Face,
    HexDefinition,
    HexTokenAbility,
    HomeDefinition,
    LoanDefinition,
    MailContractAbility,
    MarketCell,
    MarketZone,
    Node,
    PhaseDefinition,
    PresidentsCertificateAbility,
    PrivateDefinition,
    RiverDiscountAbility,
    ShareExchangeAbility,
    ShareGrant,
    SizeDefinition,
    TeleportAbility,
    TileAbility,
    TileIncomeAbility,
    TileLayAbility,
    TrainDefinition,
    train_label,
)
from engine.core.components.faults import faults_of, refuse_faults
from engine.core.components.reading import components_of, read_components, tile_faces
