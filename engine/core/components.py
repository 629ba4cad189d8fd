"""The printed components of a title as immutable data: map, tiles, market, trains, companies.

Facts are read once from `engine/titles/` and never change. Coordinates are the board's
(`H10`); edges are 0-5 clockwise, edge e of a hex meeting edge (e + 3) % 6 of its neighbour; a
tile turned by r has every edge e of its definition at (e + r) % 6. Money is in dollars, shares
in percent of a company.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec

Color = Literal["white", "yellow", "green", "brown", "gray", "red", "blue"]


class Node(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A stop, or a junction where track joins without one.

    `revenue` is one figure, or figures by the phase from which each counts. `usable_from_phase`: before
    that phase no route uses the track of its hex.
    """

    kind: Literal["city", "town", "junction", "offboard"]
    revenue: int | dict[str, int] = 0
    slots: int = 0
    group: str | None = None
    usable_from_phase: str | None = None


class Terrain(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    kind: str
    cost: int


class Border(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    edge: int
    kind: str
    cost: int = 0


class River(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A river through a hex: the edges on either bank, and the bank of its city or towns."""

    west: tuple[int, ...]
    east: tuple[int, ...]
    stations: Literal["west", "east"] | None = None


class Face(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is printed on a tile or on a hex: nodes, and paths between ends `e0`-`e5` and `n0`..."""

    color: Color
    label: str | None = None
    nodes: tuple[Node, ...] = ()
    paths: tuple[tuple[str, str], ...] = ()


class HexDefinition(Face, frozen=True, kw_only=True):
    """A hex of the map as printed."""

    name: str | None = None
    terrain: tuple[Terrain, ...] = ()
    borders: tuple[Border, ...] = ()
    reserved: tuple[str, ...] = ()
    blocked_by: str | None = None
    river: River | None = None
    icons: tuple[str, ...] = ()
    neighbors: dict[int, str] = {}


class MarketCell(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A space of the stock market."""

    price: int
    zones: tuple[str, ...] = ()
    arrow: Literal["up", "down"] | None = None


class MarketDefinition(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The stock market. `top`: what a move up does in the top row: nothing, or right and down."""

    type: Literal["1d", "2d"]
    top: Literal["stay", "diagonal"] = "stay"
    rows: tuple[tuple[MarketCell | None, ...], ...]


class TrainDefinition(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A type of train; `count` None is without limit, `distance` None any length."""

    name: str
    price: int
    count: int | None
    distance: int | None
    rusts_on: str | None = None
    obsolete_on: str | None = None
    discounts: dict[str, int] = {}
    available_on: str | None = None


class PhaseDefinition(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A phase, begun by the first purchase of the train `on`.

    `yellow_lays`: how many yellow tiles a company may lay in a turn; an upgrade takes the place of all.
    `ipo_sizes`: the numbers of shares with which a company may start.
    """

    name: str
    on: str | None
    train_limit: int
    tile_colors: tuple[Color, ...]
    operating_rounds: int
    yellow_lays: int = 1
    notes: tuple[str, ...] = ()
    ipo_sizes: tuple[int, ...] = ()


class HomeDefinition(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The home of a company; `city` None where its president chooses among several."""

    hex: str
    city: int | None = 0


class CompanyDefinition(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A public company: token costs (the home's first), percent of each certificate.

    `home` None: wherever it is started.
    `destination`: the hex that it is to reach, where the title has that (1870 §11).
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


class ShareGrant(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The share that comes with a private."""

    company: str
    percent: int
    president: bool
    sets_start_price: bool


class PrivateDefinition(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A private company: face value and income in dollars.

    `used_with_players`: the numbers of players with whom it is in play; none named: all.
    """

    sym: str
    name: str
    price: int
    revenue: int
    blocks: tuple[str, ...] = ()
    ability: str | None = None
    grants: ShareGrant | None = None
    effect: dict[str, Any] = {}
    used_with_players: tuple[int, ...] = ()


class SizeDefinition(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a company of so many shares has: station markers, most loans, most shares sold short.

    `stations_to_buy`: how many of its markers it pays for at the start. `half_to`: the dollars to a
    multiple of which the kept half of a dividend is rounded down.
    """

    stations: int
    stations_to_buy: int
    station_cost: int
    max_loans: int
    max_shorts: int
    half_to: int


class LoanDefinition(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The bank's loans: how many, dollars of each, and the rate that begins after so many are taken."""

    count: int
    value: int
    step: int
    rate_step: int


class AuctionDefinition(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Dollars that may be bid for a president's certificate."""

    min: int
    max: int
    step: int


class MapDefinition(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The map: how its hexes stand, which part of a coordinate runs along x, and the hexes."""

    layout: Literal["flat", "pointy"]
    axes: dict[str, Literal["letter", "number"]]
    hexes: dict[str, HexDefinition]


class Components(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """All printed facts of one title.

    `cert_limits`: by the companies that are not closed, where the limit falls with them.
    `reissue_prices`: par prices of reissued shares. `tile_hexes`, `tile_not_hexes`: the only hexes
    a tile may lie on, and those on which it may not. `kept_token_cost`: dollars for a destination
    token that is used as an ordinary one.
    `preprinted_upgrades`: tiles that go on a hex without a tile, by what is printed there
    (`plain`, `city_Y`), or by the hex itself where it is like no other.
    """

    title: str
    players: dict[str, int]
    bank: int | None
    starting_cash: dict[str, int]
    cert_limit: dict[str, int]
    limits: dict[str, int]
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
    one_city: tuple[str, ...] = ()
    own_station_bonus: dict[str, int] = {}
    more_players: MorePlayersVariant | None = None


class MorePlayersVariant(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Money and limits for more players than the book's own table has."""

    max: int
    starting_cash: dict[str, int]
    cert_limit: dict[str, int]


def train_label(name: str) -> str:
    """A train of that type in words: `a 2-train`, `an 8-train`."""
    return f"{'an' if name.startswith('8') else 'a'} {name}-train"


@cache
def tile_faces() -> dict[str, Face]:
    """Every tile of every title, by its number."""
    raw = (files("engine") / "titles" / "tiles.json").read_bytes()
    return msgspec.json.decode(raw, type=dict[str, Face])


@cache
def components_of(title: str) -> Components:
    """The facts of the title with that name (`1830`).

    Raises FileNotFoundError when there is no such title.
    """
    raw = (files("engine") / "titles" / f"t{title}" / "components.json").read_bytes()
    return msgspec.json.decode(raw, type=Components)
