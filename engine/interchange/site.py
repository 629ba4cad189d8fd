"""A game of the site played again through this engine, under the site's conventions.

Theory of operation. The file is brought to its live line (`site_file.live`), and each action with
its automatic followers is said to the engine as the line that it stands for. Two things differ in
how the site records: consent is never asked, so the other player's `accept` is said for him; and
what a company or player declined is not always written, so what the engine still asks of others
is declined for them before somebody acts, and a `pass` for a question that is past is nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from engine.actions import (
    Accept,
    Action,
    Bankrupt,
    Bid,
    Bridge,
    Buy,
    Buyer,
    BuyNew,
    BuyPrivate,
    BuyTrain,
    ChooseHome,
    ClosePort,
    Convert,
    DealPrivate,
    DiscardTrain,
    Exchange,
    FloatCompany,
    Half,
    KeepDestination,
    Lay,
    Loan,
    LoanFor,
    Merge,
    Mill,
    Mine,
    OfferSale,
    OpenPort,
    Par,
    Pass,
    Pay,
    PlaceCattle,
    PlaceDestination,
    Protect,
    Raise,
    Redeem,
    RedeemFor,
    Reissue,
    RemoveMarker,
    Repay,
    Run,
    Sell,
    SellNew,
    Short,
    StartCompany,
    Token,
    Withhold,
)
from engine.board.spelling import route_along, spell_route
from engine.events import AnyEvent
from engine.game import Game
from engine.holdings import presidents_percent, unit
from engine.interchange.ledger import Ledger
from engine.interchange.observe import observed
from engine.interchange.site_file import FileError, SiteAction, SiteFile, live
from engine.interchange.site_names import names_of, split
from engine.kernel import asked, game_of, new_game, refusal, stop, take
from engine.notation import spell
from engine.opening.waterfall import offered
from engine.operating.connection import connects
from engine.operating.run import best_run, route_value
from engine.record.telling import ENDED, RECORDED
from engine.state import (
    BANK,
    IPO,
    POOL,
    TREASURY,
    AnyFrame,
    Auction,
    Borrowing,
    ConnectionTurn,
    Formation,
    FreeToken,
    HomeToken,
    MergerTurn,
    OperatingTurn,
    Protection,
    ShareTrade,
    State,
    StockTurn,
    Subsidy,
    Takeover,
    Waterfall,
    copied,
    is_seat,
)
from engine.title import SITE
from engine.titles import title_of

FIRST_STEP = "destination"
"""With what a connection run begins on the site."""

COMPANY_FRAMES = (OperatingTurn, MergerTurn, Borrowing, Takeover)
"""Questions that are about one company."""


def _subject(frame: AnyFrame) -> str | None:
    return getattr(frame, "company", None)


class Said(NamedTuple):
    """One line of the replay: who said it, the line, and what it brought about."""

    id: int
    seat: str
    line: str
    events: list[AnyEvent]


class Stopped(Exception):
    """The replay cannot go on: the action's id, the line where there is one, and the reason."""

    def __init__(self, id: int, line: str, reason: str) -> None:
        super().__init__(f"Action {id}: {line}: {reason}" if line else f"Action {id}: {reason}")
        self.id = id


class Replay:
    """A site's game being played. `state` is where it stands; `said` what was said so far."""

    def __init__(self, file: SiteFile) -> None:
        self.names = names_of(file.title)
        unknown = [rule for rule in file.settings.optional_rules if rule not in self.names.options]
        if unknown:
            raise FileError(f"The optional rule {unknown[0]!r} is not known.")
        self.file = file
        self.keys = [p.key for p in file.players]
        options = (SITE, *file.settings.optional_rules)
        try:
            self.state, _ = new_game(file.title, _table_names(file), options)
        except ValueError as wrong:
            raise FileError(str(wrong)) from None
        self.start: State = copied(self.state)
        self.game: Game = game_of(self.state)
        usual = title_of(file.title, (SITE,)).facts.tiles
        self.ledger = Ledger(self.names, self.game.title, usual)
        self.said: list[Said] = []
        self.warnings: list[str] = []
        self._id = 0
        self._starting: str | None = None
        self._ahead: list[SiteAction] = []

    def run(self) -> Iterator[SiteAction]:
        """Play action after action, yielding each that has been played. Raises Stopped."""
        line = live(self.file.actions)
        for at, action in enumerate(line):
            self._id = action.id
            self._ahead = line[at + 1 : at + 4]
            for each in (action, *action.auto):
                self._act(each)
            yield action

    def observed(self, id: int) -> dict[str, Any]:
        """What the position shows, in the site's names."""
        return observed(self.game, self.names, self.keys, id, self._starting)

    # -- saying ------------------------------------------------------------------------

    def _say(self, seat: str, action: Action) -> None:
        if why := refusal(self.game, seat, action):
            raise Stopped(self._id, f"{self.state.name(seat)}: {spell(self.game, action)}", why)
        self._take(seat, action)

    def _declines(self, seat: str) -> bool:
        """Decline, if that can be done."""
        if refusal(self.game, seat, Pass()):
            return False
        self._take(seat, Pass())
        return True

    def _take(self, seat: str, action: Action) -> None:
        line = spell(self.game, action)
        self.game.events = []
        take(self.game, seat, action)
        self.state = self.game.state
        self.said.append(Said(self._id, seat, line, self.game.events))
        self.ledger.follow(self.game.events)

    def _seat(self, key: str) -> str:
        if key not in self.keys:
            raise Stopped(self._id, "", f"{key} is no player of this game")
        return self.state.seats[self.keys.index(key)]

    def _company(self, symbol: str | None) -> str:
        ours = self.names.ours(symbol or "")
        if ours not in self.state.companies:
            raise Stopped(self._id, "", f"{symbol!r} is no company of this title")
        return ours

    def _private(self, symbol: str | None) -> str:
        ours = self.names.our_private(symbol or "")
        if ours not in self.state.privates:
            raise Stopped(self._id, "", f"{symbol!r} is no private of this title")
        return ours

    def _speaker(self, action: SiteAction) -> str:
        """The seat that speaks for the entity of an action. Raises Stopped where nobody does."""
        seat = self._voice(action)
        if seat is None:
            raise Stopped(self._id, "", f"nobody speaks for {action.actor} now")
        return seat

    def _voice(self, action: SiteAction) -> str | None:
        if action.entity_type == "player":
            return self._seat(action.actor)
        if action.entity_type == "corporation":
            return self.state.companies[self._company(action.actor)].president
        owner = self.state.privates[self._private(action.actor)]
        return self.game.voice(owner) if owner in self.state.cash and owner != BANK else None

    def _decline_for_others(self, action: SiteAction) -> None:
        """Decline what is still asked of others than the one who acts."""
        for _ in range(100):
            top = self.game.top
            if isinstance(top, COMPANY_FRAMES) and action.entity_type == "corporation":
                waiting = top.company != self._company(action.actor)
            elif isinstance(top, Borrowing | Takeover) or (
                isinstance(top, MergerTurn) and top.stage == "convert"
            ):
                waiting = True
            else:
                waiting = self._speaker(action) not in asked(self.game)
            seat = asked(self.game)[0] if asked(self.game) else ""
            if not waiting or not seat or not self._declines(seat):
                return

    # -- actions -----------------------------------------------------------------------

    def _act(self, action: SiteAction) -> None:
        if action.type in ("message", "log") or action.type.startswith("program_"):
            return
        do: Callable[[SiteAction], None] | None = getattr(self, f"_do_{action.type}", None)
        if do is None:
            raise Stopped(self._id, "", f"{action.type!r} is no action of this title")
        try:
            do(action)
        except FileError as wrong:
            raise Stopped(self._id, "", str(wrong)) from None

    def _ordinary(self, action: SiteAction, said: Action) -> None:
        """Something that belongs to a turn, said by whoever speaks for the entity."""
        self._decline_for_others(action)
        self._say(self._speaker(action), said)

    def _do_pass(self, action: SiteAction) -> None:
        top, speaker = self.game.top, self._voice(action)
        if speaker is None or speaker not in asked(self.game) or not self._is_asked(action):
            return
        if isinstance(top, OperatingTurn) and self._company_of(action) not in (None, top.company):
            return
        if action.entity_type == "company" and not isinstance(top, FreeToken):
            return
        self._declines(speaker)

    def _is_asked(self, action: SiteAction) -> bool:
        """Whether the question is one that the site puts to that kind of entity."""
        top = self.game.top
        of_company = isinstance(top, Borrowing | Takeover) or (
            isinstance(top, MergerTurn) and top.stage == "convert"
        )
        if of_company:
            return action.entity_type == "corporation" and self._company_of(action) == _subject(top)
        if isinstance(top, OperatingTurn):
            return action.entity_type != "player"
        if isinstance(top, Auction | Subsidy | StockTurn | ShareTrade | MergerTurn | Formation):
            return action.entity_type == "player" or (isinstance(top, StockTurn) and top.acting is not None)
        return True

    def _company_of(self, action: SiteAction) -> str | None:
        return self._company(action.actor) if action.entity_type == "corporation" else None

    def _do_bid(self, action: SiteAction) -> None:
        if action.corporation:
            self._bid_for_company(action, self._company(action.corporation))
            return
        private, price = self._private(action.company), action.price or 0
        top = self.game.top
        if isinstance(top, Waterfall) and offered(self.game) == private:
            self._ordinary(action, BuyPrivate(private, price))
        else:
            self._ordinary(action, Bid(private, price))

    def _bid_for_company(self, action: SiteAction, company: str) -> None:
        """A bid in an auction; where none is open yet, the first one, said once its home is placed."""
        for _ in range(100):
            top = self.game.top
            if isinstance(top, Auction) and top.lot == company:
                break
            if isinstance(top, StockTurn) and self._seat(action.actor) == top.seat:
                hex, node = self._home_ahead(action.corporation or "")
                self._ordinary(action, StartCompany(company, hex, node, action.price or 0))
                self._starting = company
                return
            seat = asked(self.game)[0] if asked(self.game) else ""
            if not seat or refusal(self.game, seat, Pass()):
                break
            self._say(seat, Pass())
        self._ordinary(action, Raise(action.price or 0))

    def _home_ahead(self, company: str) -> tuple[str, int]:
        """The city in which the company's home will be placed, an action further on."""
        for later in self._ahead:
            if later.type == "place_token" and later.actor == company:
                return self.ledger.city_at(later.city or "")
        raise FileError(f"the {company} is started and its home is not placed")

    def _do_par(self, action: SiteAction) -> None:
        company = self._company(action.corporation)
        price = str(action.share_price or "").partition(",")[0]
        if not price.isdecimal():
            raise FileError(f"{action.share_price!r} is no par price")
        self._ordinary(action, Par(company, int(price)))

    def _shares(self, action: SiteAction) -> tuple[str, int]:
        """The company and the count of shares that an action names."""
        if not action.shares:
            raise FileError("no shares are named")
        company = self._company(action.shares[0].rpartition("_")[0])
        if any(self._company(s.rpartition("_")[0]) != company for s in action.shares):
            raise FileError("shares of several companies are named in one action")
        percent = action.percent or sum(
            presidents_percent(self.game, company) if s.endswith("_0") else unit(self.game, company)
            for s in action.shares
        )
        return company, percent // unit(self.game, company)

    def _do_buy_shares(self, action: SiteAction) -> None:
        company, count = self._shares(action)
        top = self.game.top
        if isinstance(top, Protection) and company == top.sales[0].company:
            self._ordinary(action, Protect(company))
            return
        self.ledger.certificates.prefer(action.shares)
        if self.game.title.facts.company_sizes:
            self._buy_of_sized(action, company, count)
            return
        owner = self.ledger.certificates.owner(action.shares[0])
        if action.entity_type == "company":
            self._say(self._speaker(action), Exchange(self._private(action.actor), _source(owner)))
        elif action.entity_type == "corporation":
            self._ordinary(action, Redeem(company, owner if owner and is_seat(owner) else None))
            self._consent()
        else:
            self._ordinary(action, Buy(company, _source(owner), count))

    def _buy_of_sized(self, action: SiteAction, company: str, count: int) -> None:
        """A purchase of shares whose number of shares was chosen: by the company, or by a player."""
        self._decline_for_others(action)
        if action.entity_type == "corporation":
            self._say(self._speaker(action), RedeemFor(company, count))
        elif isinstance(self.game.top, ShareTrade):
            self._say(self._speaker(action), BuyNew(count))
        else:
            pool = self.ledger.certificates.owner(action.shares[0]) == POOL
            self._say(self._speaker(action), Buy(company, POOL if pool else TREASURY))

    def _do_sell_shares(self, action: SiteAction) -> None:
        if action.entity_type == "corporation":
            self._ordinary(action, Reissue(self._company(action.actor)))
            return
        company, count = self._shares(action)
        self.ledger.certificates.prefer(action.shares)
        self._decline_for_others(action)
        grown = isinstance(self.game.top, ShareTrade)
        self._say(self._speaker(action), SellNew(count) if grown else Sell(company, count))

    def _do_short(self, action: SiteAction) -> None:
        self._ordinary(action, Short(self._company(action.corporation)))

    def _do_assign(self, action: SiteAction) -> None:
        if action.target_type == "hex" and not self.game.facts.company_sizes:
            self._place_improvement(action)
        elif action.target_type == "hex":
            self._say(self._speaker(action), Bridge(action.target or "", self._private(action.actor)))
        elif action.target_type == "corporation":
            self._offer_sale(action, self._company(action.target))
        else:
            top = self.game.top
            size = top.size if isinstance(top, Formation) else None
            self._ordinary(action, FloatCompany(size or 0, (self._private(action.target),)))

    def _offer_sale(self, action: SiteAction, company: str) -> None:
        """An offer for sale; what other companies are asked before it is declined."""
        for _ in range(100):
            top = self.game.top
            if isinstance(top, MergerTurn) and (top.stage, top.company) == ("offer", company):
                break
            seat = asked(self.game)[0] if asked(self.game) else ""
            if not seat or refusal(self.game, seat, Pass()):
                break
            self._say(seat, Pass())
        self._say(self._speaker(action), OfferSale(company))

    def _do_take_loan(self, action: SiteAction) -> None:
        self._decline_for_others(action)
        company = self._company(action.actor)
        stock = isinstance(self.game.top, StockTurn | Auction)
        self._say(self._speaker(action), LoanFor(company, 1) if stock else Loan(1))

    def _do_payoff_loan(self, action: SiteAction) -> None:
        self._ordinary(action, Repay(1))

    def _do_convert(self, action: SiteAction) -> None:
        self._ordinary(action, Convert())

    def _do_merge(self, action: SiteAction) -> None:
        company = self._company(action.corporation)
        if action.entity_type == "player":
            self._ordinary(action, Buyer(company))
            return
        president = self.state.companies[company].president
        self._ordinary(action, Merge(company))
        if self.state.offers and president:
            self._say(president, Accept())

    def _do_remove_token(self, action: SiteAction) -> None:
        self._say(self._speaker(action), RemoveMarker(*self.ledger.city_at(action.city or "")))

    def _do_buy_company(self, action: SiteAction) -> None:
        self._decline_for_others(action)
        private, seat = self._private(action.company), self._speaker(action)
        owner = self.state.privates[private]
        source = owner if action.entity_type == "player" else None
        self._say(seat, DealPrivate(private, action.price or 0, source))
        self._consent()

    def _consent(self) -> None:
        """The site asks nobody: the other says `accept`."""
        if self.state.offers:
            self._say(self.state.offers[-1].asked, Accept())

    def _do_lay_tile(self, action: SiteAction) -> None:
        tile = self.names.our_tile(split(action.tile or "")[0])
        self.ledger.prefer_tile(action.tile or "")
        using = self._private(action.actor) if action.entity_type == "company" else None
        effect = self.game.private_facts(using).effect.get("kind") if using else None
        if effect == "coal_mine":
            said = Mine(tile, action.hex or "", action.rotation or 0, using)
            self._own_works(action, said)
            return
        if effect == "tile_lay" and self.game.facts.second_lay_cost:
            self._own_works(action, Mill(action.rotation or 0))
            return
        lay = Lay(tile, action.hex or "", action.rotation or 0, using)
        if using:
            self._say(self._speaker(action), lay)
        else:
            self._ordinary(action, lay)

    def _own_works(self, action: SiteAction, said: Action) -> None:
        """A tile laid by the power of a private in the company's own turn."""
        self._decline_for_others(action)
        self._say(self._speaker(action), said)

    def _do_place_token(self, action: SiteAction) -> None:
        hex, node = self.ledger.city_at(action.city or "")
        if hex not in self.game.facts.map.hexes:
            raise FileError(f"{action.city!r} is no city on the map")
        top = self.game.top
        if self._starting is not None:
            self._starting = None  # it was said with the bid
        elif isinstance(top, HomeToken):
            self._say(top.chooser, ChooseHome(top.company, hex, node))
        elif isinstance(top, FreeToken):
            self._say(self._speaker(action), Token(hex, node, top.private))
        else:
            self._ordinary(action, Token(hex, node))

    def _do_run_routes(self, action: SiteAction) -> None:
        self._decline_for_others(action)
        if not action.routes:
            if best_run(self.game, self._company(action.actor)).revenue:
                self._say(self._speaker(action), Run((), 0))
            return
        recorded, earned = 0, 0
        routes = []
        for route in action.routes:
            train = split(str(route.get("train", "")))[0]
            if train not in self.game.title.trains:
                raise FileError(f"there is no {train}-train")
            try:
                found = route_along(self.game.network, route.get("connections") or [], train)
                routes.append((train, spell_route(self.game.network, found)))
                company = self._company(action.actor)
                worth = route_value(self.game, company, found)
            except (ValueError, LookupError, TypeError, AttributeError) as wrong:
                if not isinstance(route.get("revenue"), int):
                    raise FileError(f"the {train}-train's route: {wrong}") from None
                self.warnings.append(f"Action {self._id}: the {train}-train's route: {wrong}")
                worth = 0
            earned += worth
            revenue = route.get("revenue")
            recorded += revenue if isinstance(revenue, int) else worth
        said = Run(tuple(routes))
        seat = self._speaker(action)
        why = refusal(self.game, seat, said) if routes else None
        if recorded != earned or not routes or why:
            self.warnings.append(
                f"Action {self._id}: ${recorded} is paid as recorded; the routes bring ${earned}"
                + (f" ({why})" if why else "")
            )
            self._say(seat, Run(tuple(routes), recorded))
        else:
            self._take(seat, said)

    def _do_dividend(self, action: SiteAction) -> None:
        kinds: dict[str | None, Action] = {"payout": Pay(), "withhold": Withhold(), "half": Half()}
        if action.kind not in kinds:
            raise FileError(f"{action.kind!r} is no dividend of this title")
        self._ordinary(action, kinds[action.kind])

    def _do_buy_train(self, action: SiteAction) -> None:
        train = action.train or ""
        name = action.variant or split(train)[0]
        source = self.ledger.train_owner(train)
        self.ledger.prefer_train(train)
        traded = split(action.exchange)[0] if action.exchange else None
        if action.exchange:
            self.ledger.prefer_train(action.exchange)
        price = action.price if source not in (BANK, POOL) else None
        self._ordinary(action, BuyTrain(name, source, price, traded))
        self._consent()

    def _do_discard_train(self, action: SiteAction) -> None:
        company = self._company(action.actor)
        self.ledger.prefer_train(action.train or "")
        seat = self._voice(action) or next(iter(asked(self.game)), "")
        self._say(seat, DiscardTrain(split(action.train or "")[0], company))

    def _do_choose(self, action: SiteAction) -> None:
        choices: dict[object, Action] = {"Map": PlaceDestination(), "Charter": KeepDestination()}
        choices |= {size: FloatCompany(size) for size in self.game.facts.company_sizes}
        if action.choice not in choices:
            raise FileError(f"{action.choice!r} is no choice of this title")
        self._ordinary(action, choices[action.choice])

    def _place_improvement(self, action: SiteAction) -> None:
        """The token of a private; a second one on the same hex closes the port."""
        private, hex = self._private(action.actor), action.target or ""
        word = self.game.private_facts(private).effect.get("word")
        said: Action = PlaceCattle(hex) if word == "cattle" else OpenPort(hex)
        if private in self.state.improvements:
            said = ClosePort()
        self._say(self._speaker(action), said)

    def _do_destination_connection(self, action: SiteAction) -> None:
        """What the site has found; the engine finds it by itself, but for runs that it knows better."""
        for company in map(self._company, action.corporations):
            if not self.game.company(company).connected and not connects(self.game, company):
                self.warnings.append(f"Action {self._id}: the {company} connects as recorded")
                self.game.events = []
                self.game.open(ConnectionTurn(company, FIRST_STEP))
                self.said.append(Said(self._id, self.game.president(company), RECORDED, self.game.events))

    def _do_bankrupt(self, action: SiteAction) -> None:
        self._ordinary(action, Bankrupt())

    def _do_end_game(self, action: SiteAction) -> None:
        played = stop(self.state, "It was ended by agreement.")
        self.game = game_of(played.state)
        self.state = played.state
        seat = self._seat(action.actor) if action.entity_type == "player" else self.state.seats[0]
        self.said.append(Said(self._id, seat, ENDED, played.events))


def _source(owner: str | None) -> str:
    """Where a certificate is bought that lies with that owner."""
    return IPO if owner in (None, IPO) else POOL


def _table_names(file: SiteFile) -> list[str]:
    """Names that can be spoken at a table, as near to the file's as that allows."""
    names: list[str] = []
    for i, player in enumerate(file.players, 1):
        plain = " ".join("".join(c if c.isalnum() else " " for c in player.name).split())[:20].strip()
        taken = {n.casefold() for n in names}
        names.append(plain if plain and plain.casefold() not in taken else f"Player {i}")
    return names
