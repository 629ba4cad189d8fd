"""Track work of a turn: two tiles, one of them an upgrade at most, with mines, bridges and a mill
(1817 §6.3, §1.2.6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from engine.actions import Action, Bridge, Lay, Mill, Mine
from engine.board.chains import Terms
from engine.board.faces import face_at, fits
from engine.events import PowerSpent, PrivateMoved, SiteBuilt, TileLaid, TokenShifted
from engine.facts import tile_faces
from engine.game import Game
from engine.loans import room
from engine.operating.stations import city_words
from engine.operating.track import fit, fits_there, refuse_lay, replacements, words
from engine.operating.turn import is_past, turn_for
from engine.state import BANK, CLOSED, OperatingTurn
from engine.title import Aside, Option

LAYS = 2
WORTH = 10
"""Dollars that a mine or a bridge brings."""


def tokens_left(g: Game, company: str, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The company's privates of that kind that have tokens left, with their effects."""
    for private in g.privates_of(company):
        effect = g.private_facts(private).effect
        if effect.get("kind") == kind and g.state.spent.count(private) < effect.get("tokens", 1):
            yield private, effect


def effects(g: Game, company: str, kind: str) -> list[dict[str, Any]]:
    """The effects of that kind that the company's privates have."""
    mine = [g.private_facts(p).effect for p in g.privates_of(company)]
    return [e for e in mine if e.get("kind") == kind]


def is_upgrade(tile: str) -> bool:
    """Whether laying the tile is an upgrade."""
    return tile_faces()[tile].color != "yellow"


def site_cost(g: Game, company: str, hex: str, *, mine: bool = False) -> int:
    """Dollars for the ground of the first tile on a hex, to that company (1817 §6.3.1)."""
    if hex in g.state.tiles or mine:
        return 0
    saved = {str(e["terrain"]): int(str(e["saves"])) for e in effects(g, company, "bridge")}
    return sum(max(t.cost - saved.get(t.kind, 0), 0) for t in g.facts.map.hexes[hex].terrain)


def site_income(g: Game, company: str, hex: str, tile: str) -> int:
    """Dollars that the company receives for a yellow tile there (1817 §1.2.6)."""
    if is_upgrade(tile):
        return 0
    kinds = {t.kind for t in g.facts.map.hexes[hex].terrain}
    return sum(int(str(e["income"])) for e in effects(g, company, "tile_income") if e["terrain"] in kinds)


def works_terms(g: Game, company: str) -> Terms:
    """What mines and bridges bring, and the cities of which a route visits one (1817 §6.5)."""
    return Terms(
        passing=dict.fromkeys(g.state.mines, WORTH),
        at_stops={(hex, 0): WORTH for hex in g.state.bridges},
        one_city=frozenset(g.facts.one_city),
    )


def fewer_exits(g: Game, lay: Lay) -> str | None:
    """Why a brown city tile has to have more exits (1817 §6.3.2), or None."""
    face = tile_faces()[lay.tile]
    if face.color != "brown" or face.label or not any(n.kind == "city" for n in face.nodes):
        return None

    def exits(tile: str) -> int:
        return max((f.face.exits.bit_count() for f in fits_there(g, tile, lay.hex)), default=0)

    found = fit(g, lay.tile, lay.hex, lay.turn)
    most = max(exits(t) for t in replacements(g, lay.hex))
    if found is not None and found.face.exits.bit_count() < most:
        return f"A brown city has as many exits as fit: {most} on {lay.hex} (§6.3.2)."
    return None


@dataclass(frozen=True)
class WorksStep:
    """Lay a tile, and for $20 a second one; at most one upgrade, and not both on one hex (§6.3).

    `all_exits`: brown cities have as many exits as fit. `always`: it is asked as long as the fee can be
    paid, even where nothing can be laid.
    """

    all_exits: bool = True
    always: bool = False
    name: str = "track"
    hears: tuple[type[Action], ...] = (Lay, Mine, Mill)

    def waits(self, g: Game, turn: OperatingTurn) -> bool:
        if self.always and turn.laid < LAYS:
            fee = g.facts.second_lay_cost
            return not turn.laid or g.cash(turn.company) >= fee or room(g, turn.company) > 0
        if next(self._works(g, turn), None) is not None:
            return True
        return room(g, turn.company) > 0 and next(self._works(g, turn, borrowed=True), None) is not None

    def must(self, g: Game, turn: OperatingTurn) -> str | None:
        return None

    def needs(self, g: Game, turn: OperatingTurn) -> str:
        more = f" once more, for ${g.facts.second_lay_cost}" if turn.laid else ""
        return f"to lay or upgrade track for the {turn.company}{more}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        for action in self._works(g, turn):
            lay = self._lay(g, turn.company, action)
            cost = self._cost(g, turn, action)
            says = words(g, lay).partition(", for $")[0] + (f", for ${cost}" if cost else "")
            if isinstance(action, Mine):
                says += ", with a coal mine"
            elif isinstance(action, Mill):
                says = f"By the {lay.using}: {says}"
            yield Option(action, says)

    def _lay(self, g: Game, company: str, action: Action) -> Lay:
        """The tile that the action puts down; `using` where it is a private's own."""
        match action:
            case Lay():
                return action
            case Mine(tile, hex, turn):
                return Lay(tile, hex, turn)
            case Mill(turn):
                for private, effect in tokens_left(g, company, "tile_lay"):
                    tiles, hexes = effect["tiles"], effect["hexes"]
                    assert isinstance(tiles, list) and isinstance(hexes, list)
                    return Lay(tiles[0], hexes[0], turn, private)
        raise ValueError(f"The {company} has no tile of a private to lay (§1.2.6).")

    def _works(self, g: Game, turn: OperatingTurn, *, borrowed: bool = False) -> Iterator[Action]:
        """What the company can do; `borrowed`: if it took loans first."""
        if turn.laid >= LAYS:
            return
        company = turn.company
        own = {str(t) for e in _every_effect(g, "tile_lay") for t in e["tiles"]}
        mining = any(True for _ in tokens_left(g, company, "coal_mine"))
        for hex, edges in sorted(g.network.reach(company).edges.items()):
            for tile in replacements(g, hex):
                if tile in own or tile_faces()[tile].color not in g.phase.tile_colors:
                    continue
                for found in fits_there(g, tile, hex):
                    if found.face.exits & edges:
                        lay = Lay(tile, hex, found.turn)
                        if self._refuse(g, turn, lay, borrowed=borrowed) is None:
                            yield lay
                        mine = Mine(tile, hex, found.turn)
                        if mining and self._refuse(g, turn, mine, borrowed=borrowed) is None:
                            yield mine
        if any(True for _ in tokens_left(g, company, "tile_lay")):
            for rotation in range(6):
                if self._refuse(g, turn, mill := Mill(rotation), borrowed=borrowed) is None:
                    yield mill

    def _cost(self, g: Game, turn: OperatingTurn, action: Action) -> int:
        lay = self._lay(g, turn.company, action)
        ground = site_cost(g, turn.company, lay.hex, mine=isinstance(action, Mine))
        return ground + (g.facts.second_lay_cost if turn.laid else 0)

    def refuse(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        return self._refuse(g, turn, action, borrowed=False)

    def _refuse(self, g: Game, turn: OperatingTurn, action: Action, *, borrowed: bool) -> str | None:
        company = turn.company
        if turn.laid >= LAYS:
            return f"The {company} has laid its two tiles for this turn (§6.3)."
        try:
            lay = self._lay(g, company, action)
        except ValueError as wrong:
            return str(wrong)
        if lay.using and not isinstance(action, Mill):
            return f"A tile of the {lay.using} is laid by `mill` or `with mine` (§1.2.6)."
        if isinstance(action, Mine) and (why := self._refuse_mine(g, company, lay, action.using)):
            return why
        mill = isinstance(action, Mill)
        if mill and lay.hex in g.state.tiles:
            return f"Track lies in {lay.hex} (§1.2.6)."
        if not mill and lay.tile in {t for e in _every_effect(g, "tile_lay") for t in e["tiles"]}:
            return f"#{lay.tile} is laid by the power of a private only (§1.2.6)."
        if lay.hex in turn.sites:
            return f"{lay.hex} was worked on in this turn (§6.3)."
        if lay.hex in g.state.mines:
            return f"The tile under the mine in {lay.hex} is never replaced (§1.2.6)."
        cost = self._cost(g, turn, action) if lay.hex in g.facts.map.hexes else 0
        if why := refuse_lay(g, company, lay, connected=not mill, cost=0 if borrowed else cost):
            return why
        if turn.upgraded and is_upgrade(lay.tile):
            return "At most one of the two tiles may be an upgrade (§6.3)."
        if self.all_exits and (why := fewer_exits(g, lay)):
            return why
        return self._refuse_to_join(g, lay) if isinstance(action, Mine) else None

    def _refuse_mine(self, g: Game, company: str, lay: Lay, using: str | None) -> str | None:
        """Why no mine may be built there by any lay, or by that one."""
        fitting = [e for p, e in tokens_left(g, company, "coal_mine") if using in (None, p)]
        if not fitting:
            return f"The {company} has no coal mine to build (§1.2.6)."
        hexes, tiles = fitting[0]["hexes"], fitting[0]["tiles"]
        assert isinstance(hexes, list) and isinstance(tiles, list)
        if lay.hex not in hexes or lay.tile not in tiles:
            return "A mine goes with plain yellow track on a mountain beside a city or red area (§1.2.6)."
        return None

    def _refuse_to_join(self, g: Game, lay: Lay) -> str | None:
        """Why a mine is of no use where the tile is laid so."""
        found = fit(g, lay.tile, lay.hex, lay.turn)
        here = g.facts.map.hexes[lay.hex]
        for edge, beside in here.neighbors.items():
            if found and found.face.exits >> edge & 1 and _may_meet(g, beside, (edge + 3) % 6):
                return None
        return f"The mine in {lay.hex} could never be joined to a city or red area beside it (§1.2.6)."

    def take(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        company, lay = turn.company, self._lay(g, turn.company, action)
        found = fit(g, lay.tile, lay.hex, lay.turn)
        assert found is not None
        first = lay.hex not in g.state.tiles
        cost, income = self._cost(g, turn, action), site_income(g, company, lay.hex, lay.tile) if first else 0
        g.change(
            msgspec.structs.replace(
                turn,
                laid=turn.laid + 1,
                acted=True,
                sites=(*turn.sites, lay.hex),
                upgraded=turn.upgraded or is_upgrade(lay.tile),
            )
        )
        g.pay(company, BANK, cost, f"track on {lay.hex}")
        g.emit(TileLaid(company, lay.hex, lay.tile, lay.turn))
        for node, owner in list(g.state.tokens.get(lay.hex, ())):
            if (now := found.moved.get(node, node)) != node:
                g.emit(TokenShifted(owner, lay.hex, now))
        if isinstance(action, Mine):
            private = next(p for p, _ in tokens_left(g, company, "coal_mine") if action.using in (None, p))
            g.emit(SiteBuilt(company, private, lay.hex, "mine"))
            if not any(p == private for p, _ in tokens_left(g, company, "coal_mine")):
                g.emit(PrivateMoved(private, CLOSED))
        if lay.using:
            g.emit(PowerSpent(lay.using))
            g.emit(PrivateMoved(lay.using, CLOSED))
        g.pay(BANK, company, income, "income of mountain engineering")

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """Nothing is laid."""


def _every_effect(g: Game, kind: str) -> list[dict[str, Any]]:
    return [p.effect for p in g.facts.privates if p.effect.get("kind") == kind]


def _may_meet(g: Game, hex: str, edge: int) -> bool:
    """Whether a city or red area beside can have track at that edge, now or after upgrades."""
    if hex not in g.facts.map.hexes:
        return False
    face = face_at(g.facts, g.state.tiles, hex)
    kinds = {n.kind for n in face.nodes}
    if "offboard" in kinds or (face.color == "gray" and "city" in kinds):
        return bool(face.exits >> edge & 1)
    if "city" not in kinds:
        return False
    if face.exits >> edge & 1:
        return True
    return any(_leads(g, hex, g.state.tiles.get(hex), edge, 0))


def _leads(g: Game, hex: str, old: tuple[str, int] | None, edge: int, depth: int) -> Iterator[bool]:
    """True for each way in which upgrades of what lies there can come to have track at the edge."""
    following = replacements(g, hex) if old is None else (g.facts.upgrades or {}).get(old[0], ())
    for tile in following:
        for found in fits(g.facts, hex, old, tile):
            if found.face.exits >> edge & 1:
                yield True
                return
    if depth < 2:
        for tile in following:
            for found in fits(g.facts, hex, old, tile):
                yield from _leads(g, hex, (tile, found.turn), edge, depth + 1)


@dataclass(frozen=True)
class Bridges(Aside):
    """Bridge tokens, placed at any time of the company's turn (1817 §1.2.6).

    `before_interest`: not any more once the interest is paid, as on the site.
    """

    hears: ClassVar[tuple[type[Action], ...]] = (Bridge,)

    before_interest: bool = False

    def _sites(self, g: Game, company: str) -> list[str]:
        for _, effect in tokens_left(g, company, "bridge"):
            hexes = effect["hexes"]
            assert isinstance(hexes, list)
            return [h for h in hexes if h not in g.state.bridges]
        return []

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        turn = g.top
        if isinstance(turn, OperatingTurn) and g.president(turn.company) == seat:
            for hex in self._sites(g, turn.company):
                if self.refuse(g, seat, Bridge(hex)) is None:
                    yield Option(Bridge(hex), f"Bridge token on {city_words(g, hex, 0)}")

    def refuse(self, g: Game, seat: str, action: Action) -> str | None:
        assert isinstance(action, Bridge)
        turn = turn_for(
            g, seat, "Bridge tokens are placed in a company's turn of an operating round (§1.2.6)."
        )
        if isinstance(turn, str):
            return turn
        if not any(True for _ in tokens_left(g, turn.company, "bridge")):
            return f"The {turn.company} has no bridge token (§1.2.6)."
        if action.using and all(p != action.using for p, _ in tokens_left(g, turn.company, "bridge")):
            return f"The {turn.company} has no token of the {action.using} (§1.2.6)."
        if self.before_interest and is_past(g, turn, "interest"):
            return f"The {turn.company} has paid its interest, and only repays or takes loans now (§6.9)."
        if action.hex not in self._sites(g, turn.company):
            return f"{action.hex} takes no bridge token, or has one (§1.2.6)."
        return None

    def take(self, g: Game, seat: str, action: Action) -> None:
        assert isinstance(action, Bridge)
        turn = g.top
        assert isinstance(turn, OperatingTurn)
        owned = [p for p, _ in tokens_left(g, turn.company, "bridge")]
        private = next(p for p in owned if action.using in (None, p))
        g.emit(SiteBuilt(turn.company, private, action.hex, "bridge"))
