"""The classes of a title's printed components: map, tiles, market, trains, companies."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

Color = Literal["white", "yellow", "green", "brown", "gray", "red", "blue"]

TerrainKind = Literal["mountain", "river", "water", "lake", "coast"]


class Component(msgspec.Struct, frozen=True, kw_only=True, gc=False, forbid_unknown_fields=True):
    """A part of a game's box. All components are immutable."""


class Node(Component, frozen=True, kw_only=True):
    """A stop, or a junction where tracks meet without a stop.

    `revenue`: dollars, or dollars by the phase from which they count. `slots`: spaces for station
    tokens. `group`: the off-board area or city that the node is part of; a route visits it once.
    `usable_from_phase`: before that phase no route uses the track of its hex.
    """

    kind: Literal["city", "town", "junction", "offboard"]
    revenue: int | dict[str, int] = 0
    slots: int = 0
    group: str | None = None
    usable_from_phase: str | None = None


class Terrain(Component, frozen=True, kw_only=True):
    """Terrain of a hex: the dollars that the first tile there costs."""

    kind: TerrainKind
    cost: int


class Border(Component, frozen=True, kw_only=True):
    """A special side of a hex: no track crosses an impassable one."""

    edge: int
    kind: Literal["impassable"]


class River(Component, frozen=True, kw_only=True):
    """A river through a hex: the edges on either bank, and the bank of its city or towns."""

    west: tuple[int, ...]
    east: tuple[int, ...]
    stations: Literal["west", "east"] | None = None


class Face(Component, frozen=True, kw_only=True):
    """What is printed on a tile or on a hex: nodes, and paths between ends `e0`-`e5` and `n0`..."""

    color: Color
    label: str | None = None
    nodes: tuple[Node, ...] = ()
    paths: tuple[tuple[str, str], ...] = ()


class HexDefinition(Face, frozen=True, kw_only=True):
    """A hex of the map as printed.

    `reserved`: companies for whose home a space is kept. `blocked_by`: the private that closes the hex.
    `icons`: tokens of privates that may be placed here. `neighbors`: coordinates by edge 0-5; they follow
    from the layout and the axes of the map, so a file leaves them out.
    """

    name: str | None = None
    terrain: tuple[Terrain, ...] = ()
    borders: tuple[Border, ...] = ()
    reserved: tuple[str, ...] = ()
    blocked_by: str | None = None
    river: River | None = None
    icons: tuple[str, ...] = ()
    neighbors: dict[int, str] = {}

    @property
    def takes_tiles(self) -> bool:
        """Whether tiles may ever be laid here."""
        return self.color in ("white", "yellow")

    @property
    def printed_kind(self) -> str:
        """What is printed here, as `preprinted_upgrades` names it: `plain`, `two_towns`, `city_OO`."""
        if towns := sum(node.kind == "town" for node in self.nodes):
            return "town" if towns == 1 else "two_towns"
        kind = "city" if self.nodes else "plain"
        return f"{kind}_{self.label}" if self.label else kind


class MarketZone(StrEnum):
    """A marked part of the stock market.

    PAR: spaces of par prices. YELLOW, ORANGE, GREEN, BROWN: colours that lift limits (1830 §10, 1870
    §5.4.1). CLOSING: a company whose token comes here closes (1870). LEDGE: the edge at which a price
    stops (1851). LOWER, UPPER_LEDGE: below and above the ledge that a price token jumps (1870 §5.8).
    ACQUISITION, LIQUIDATION: spaces without a price, for companies that are sold (1817 §7).
    """

    PAR = "par"
    YELLOW = "yellow"
    ORANGE = "orange"
    GREEN = "green"
    BROWN = "brown"
    CLOSING = "closing"
    LEDGE = "ledge"
    LOWER = "lower"
    UPPER_LEDGE = "upper_ledge"
    ACQUISITION = "acquisition"
    LIQUIDATION = "liquidation"


class MarketCell(Component, frozen=True, kw_only=True):
    """A space of the stock market: its price in dollars (0: none) and its zones.

    `arrow`: where a token moves instead of along its row.
    """

    price: int
    zones: tuple[MarketZone, ...] = ()
    arrow: Literal["up", "down"] | None = None


class MarketDefinition(Component, frozen=True, kw_only=True):
    """The stock market: its spaces by row from the top and by column; None where there is no space.

    `type`: `1d` has one row, which the picture breaks into several. `top`: what a move up does in the top
    row: nothing, or one space right and down.
    """

    type: Literal["1d", "2d"]
    top: Literal["stay", "diagonal"] = "stay"
    rows: tuple[tuple[MarketCell | None, ...], ...]


class TrainDefinition(Component, frozen=True, kw_only=True):
    """A type of train: price in dollars, number of trains (None: unlimited), stops (None: any number).

    `rusts_on`: the train whose first purchase removes it. `obsolete_on`: the one after which it runs
    once more. `discounts`: dollars off for each type traded in. `available_on`: it is for sale once that
    type has been bought.
    """

    name: str
    price: int
    count: int | None
    distance: int | None
    rusts_on: str | None = None
    obsolete_on: str | None = None
    discounts: dict[str, int] = {}
    available_on: str | None = None


class PhaseDefinition(Component, frozen=True, kw_only=True):
    """A phase, which begins with the first purchase of the train `on` (None: with the game).

    `yellow_lays`: yellow tiles that a company may lay in a turn; an upgrade takes the place of all.
    `ipo_sizes`: the numbers of shares with which a company may start (1817). `closes_privates`: its
    beginning closes all privates. `triggers_game_end`: its beginning in a set of rounds starts the end.
    """

    name: str
    on: str | None
    train_limit: int
    tile_colors: tuple[Color, ...]
    operating_rounds: int
    yellow_lays: int = 1
    ipo_sizes: tuple[int, ...] = ()
    companies_may_buy_privates: bool = False
    closes_privates: bool = False
    forbids_short_sales: bool = False
    triggers_game_end: bool = False


class HomeDefinition(Component, frozen=True, kw_only=True):
    """The home of a company; `city` is a node, None where its president chooses among several."""

    hex: str
    city: int | None = 0


class CompanyDefinition(Component, frozen=True, kw_only=True):
    """A public company: token costs in dollars (the home's first), percent of each certificate.

    The first certificate is the president's. `home` None: the company has its home where it is
    started (1817). `destination`: the hex that it is to reach (1870 §11).
    """

    sym: str
    name: str
    tokens: tuple[int, ...]
    home: HomeDefinition | None
    float_percent: int
    shares: tuple[int, ...]
    color: str
    text_color: str
    destination: str | None = None
    founded: int | None = None


class ShareGrant(Component, frozen=True, kw_only=True):
    """The certificate that comes with a private; `president`: it is the president's."""

    company: str
    percent: int
    president: bool
    sets_start_price: bool


class Ability(Component, frozen=True, kw_only=True, tag_field="kind"):
    """What the owner of a private company may do with it."""

    @property
    def uses(self) -> int:
        """How often it may be used."""
        return 1


class TileAbility(Ability, frozen=True, kw_only=True):
    """Lay one of these tiles on one of these hexes.

    `extra_lay`: on top of the normal lay instead of in its place. `connected`: only where a route of
    the company leads.
    """

    hexes: tuple[str, ...]
    tiles: tuple[str, ...]
    extra_lay: bool = False
    connected: bool = False


class TileLayAbility(TileAbility, frozen=True, kw_only=True, tag="tile_lay"):
    """Lay a tile, and nothing more (1830 Table 1; 1817 §1.2.6, the steel mill)."""


class TeleportAbility(TileAbility, frozen=True, kw_only=True, tag="teleport"):
    """Lay a tile and place a token there at once for nothing (1830 Table 1)."""


class ShareExchangeAbility(Ability, frozen=True, kw_only=True, tag="exchange"):
    """Trade the private for a share of that company (1830 Table 1)."""

    company: str
    percent: int


class RiverDiscountAbility(Ability, frozen=True, kw_only=True, tag="river_discount"):
    """Pay `discount` dollars less for the first tile on one of these hexes (1870 §15.2).

    While the private is open and no company owns it, no track crosses the river.
    """

    hexes: tuple[str, ...]
    discount: int


class CityTokenAbility(Ability, frozen=True, kw_only=True, tag="city_token"):
    """Place a cattle token or a port in one of these cities (1870 §15.2).

    `bonus`: dollars more for the company at each visit. `open_bonus`: dollars more for all others
    while the port is open. `removed_on`: the train whose first purchase takes the token off the map.
    """

    token: Literal["cattle", "port"]
    hexes: tuple[str, ...]
    bonus: int
    open_bonus: int = 0
    removed_on: str


class PresidentsCertificateAbility(Ability, frozen=True, kw_only=True, tag="presidents_certificate"):
    """The private is nothing but the president's certificate; it closes as the company floats (1870)."""


class TileIncomeAbility(Ability, frozen=True, kw_only=True, tag="tile_income"):
    """Receive `income` dollars for each yellow tile laid on that terrain (1817 §1.2.6)."""

    terrain: TerrainKind
    income: int


class HexTokenAbility(Ability, frozen=True, kw_only=True):
    """Place so many tokens on these hexes; every visit of a route earns `bonus` dollars more."""

    tokens: int
    hexes: tuple[str, ...]
    bonus: int

    @property
    def uses(self) -> int:
        return self.tokens


class BridgeAbility(HexTokenAbility, frozen=True, kw_only=True, tag="bridge"):
    """Place bridges on cities, and pay `terrain_discount` dollars less for that terrain (1817 §1.2.6)."""

    terrain: TerrainKind
    terrain_discount: int


class CoalMineAbility(HexTokenAbility, frozen=True, kw_only=True, tag="coal_mine"):
    """Build mines together with one of these tiles, free of terrain cost (1817 §1.2.6)."""

    tiles: tuple[str, ...]


class ExtraTokensAbility(Ability, frozen=True, kw_only=True, tag="extra_tokens"):
    """Have so many station tokens more (1817 §1.2.6)."""

    tokens: int


class MailContractAbility(Ability, frozen=True, kw_only=True, tag="mail_contract"):
    """Receive `income` dollars at the start of each operating round, given a train (1817 §1.2.6)."""

    income: int


class EarlySale(Component, frozen=True, kw_only=True):
    """Companies that may buy the private in the first phase, for `max_price` dollars at most."""

    buyers: tuple[str, ...]
    max_price: int


class PrivateDefinition(Component, frozen=True, kw_only=True):
    """A private company: face value and income in dollars.

    `blocks`: hexes on which nobody lays track while a player owns it. `description`: its ability in
    words. `grants`: the certificate that comes with it. `closes_with_first_train_of`: a company whose
    first train closes it. `used_with_players`: the numbers of players with whom it is in play; empty: all.
    """

    sym: str
    name: str
    price: int
    revenue: int
    blocks: tuple[str, ...] = ()
    description: str | None = None
    grants: ShareGrant | None = None
    ability: (
        TileLayAbility
        | TeleportAbility
        | ShareExchangeAbility
        | RiverDiscountAbility
        | CityTokenAbility
        | PresidentsCertificateAbility
        | TileIncomeAbility
        | BridgeAbility
        | CoalMineAbility
        | ExtraTokensAbility
        | MailContractAbility
        | None
    ) = None
    sellable_to_company: bool = True
    early_sale: EarlySale | None = None
    closes_with_first_train_of: str | None = None
    used_with_players: tuple[int, ...] = ()


class SizeDefinition(Component, frozen=True, kw_only=True):
    """What a company of so many shares has (1817): station tokens, most loans, most shares sold short.

    `stations_to_buy`: how many of its tokens it pays for at the start, at `station_cost` dollars each.
    `half_dividend_multiple`: the kept half of a dividend is rounded down to a multiple of these dollars.
    """

    stations: int
    stations_to_buy: int
    station_cost: int
    max_loans: int
    max_shorts: int
    half_dividend_multiple: int


class LoanDefinition(Component, frozen=True, kw_only=True):
    """The bank's loans: how many, and dollars of each.

    The interest rate rises by `rate_step` dollars each time that `step` more loans have been taken.
    """

    count: int
    value: int
    step: int
    rate_step: int


class AuctionDefinition(Component, frozen=True, kw_only=True):
    """Dollars that may be bid for a president's certificate: least, most, and multiples of `step`."""

    min: int
    max: int
    step: int


class MapDefinition(Component, frozen=True, kw_only=True):
    """The map: how its hexes lie, which part of a coordinate runs along x, and the hexes."""

    layout: Literal["flat", "pointy"]
    axes: dict[str, Literal["letter", "number"]]
    hexes: dict[str, HexDefinition]


class HoldingLimits(Component, frozen=True, kw_only=True):
    """How much of one company a player, the pool and its own treasury may hold, in percent.

    `redeemed_shares`: how many shares a treasury may hold by redemption (1870 §5.10); 0: companies
    redeem none.
    """

    player_percent: int
    pool_percent: int
    treasury_percent: int = 100
    redeemed_shares: int = 0


class MorePlayersVariant(Component, frozen=True, kw_only=True):
    """Money and limits for more players than the rulebook provides for."""

    max: int
    starting_cash: dict[str, int]
    cert_limit: dict[str, int]


class Components(Component, frozen=True, kw_only=True):
    """All printed components of one title. Dictionaries by number of players have text keys (`"4"`).

    `bank`: its money in dollars, None where it is unlimited. `cert_limits`: the certificate limits by
    how many companies are still open (1870). `reissue_prices`: par prices of reissued shares (1870).
    `upgrades`: by tile the tiles that may replace it. `preprinted_upgrades`: tiles that go on a hex
    without a tile, by what is printed there (`plain`, `city_Y`), or by the hex itself where it is like
    no other. `tiles`: how many there are of each, None without limit. `tile_hexes`, `tile_not_hexes`:
    the only hexes a tile may lie on, and those on which it may not. `kept_token_cost`: dollars for a
    destination token that is kept as an ordinary one. `second_lay_cost`: dollars for a second tile in
    one turn. `single_city_hexes`: hexes whose cities count as one. `own_station_bonus`: by train,
    dollars more for each of the company's own tokens on its route. `offboard_tokens`: any company may
    have a token in an off-board home once it is free.
    """

    title: str
    players: dict[str, int]
    bank: int | None
    starting_cash: dict[str, int]
    cert_limit: dict[str, int]
    limits: HoldingLimits
    par_prices: tuple[int, ...]
    market: MarketDefinition
    trains: tuple[TrainDefinition, ...]
    phases: tuple[PhaseDefinition, ...]
    companies: tuple[CompanyDefinition, ...]
    privates: tuple[PrivateDefinition, ...]
    tiles: dict[str, int | None]
    preprinted_upgrades: dict[str, tuple[str, ...]]
    upgrades: dict[str, tuple[str, ...]] | None
    cert_limits: dict[int, dict[str, int]] = {}
    reissue_prices: tuple[int, ...] = ()
    kept_token_cost: int = 0
    tile_hexes: dict[str, tuple[str, ...]] = {}
    tile_not_hexes: dict[str, tuple[str, ...]] = {}
    map: MapDefinition
    company_sizes: dict[int, SizeDefinition] = {}
    max_stations: int = 0
    loans: LoanDefinition | None = None
    ipo_bid: AuctionDefinition | None = None
    seed_money: int = 0
    second_lay_cost: int = 0
    single_city_hexes: tuple[str, ...] = ()
    own_station_bonus: dict[str, int] = {}
    more_players: MorePlayersVariant | None = None
    privates_count_as_certificates: bool = True
    privates_count_in_net_worth: bool = True
    must_own_train: bool = True
    offboard_tokens: bool = False


def train_label(name: str) -> str:
    """A train of that type in words: `a 2-train`, `an 8-train`."""
    return f"{'an' if name.startswith('8') else 'a'} {name}-train"
