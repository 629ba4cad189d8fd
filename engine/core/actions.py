"""Everything that a player can decide, each with its form in the notation beside it.

A form is a template. Lower-case words stand for themselves, `name:KIND` is a field in the notation of that
kind (`engine.language.notation`), and a part in brackets is written only where its field differs from its
default. The engine writes the first form and reads them all. `menu_fields` are the fields by which a person
narrows down the choice, in that order. A `secret` action is shown to nobody but its player.

Some actions are stored in offers, so the names of the classes and fields do not change.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec


class Action(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Base of all decisions."""

    forms: ClassVar[tuple[str, ...]]
    menu_fields: ClassVar[tuple[str, ...]] = ()
    secret: ClassVar[bool] = False


class Pass(Action, frozen=True):
    """Decline, or be done."""

    forms = ("pass", "done")


class BuyPrivate(Action, frozen=True):
    """Buy the private that is offered, at its price (1830 §7.1).

    `price`: another price, as in files of 18xx.games.
    """

    private: str
    price: int | None = None
    forms = ("buy private:PRIVATE [for price:AMOUNT]",)


class Bid(Action, frozen=True):
    """Bid dollars on a private (1830 §7.2)."""

    private: str
    amount: int
    forms = (
        "bid private:PRIVATE amount:AMOUNT",
        "bid amount:AMOUNT",
        "bid amount:AMOUNT on private:PRIVATE",
        "bid amount:AMOUNT for private:PRIVATE",
    )
    menu_fields = ("private",)


class Par(Action, frozen=True):
    """Set a company's par price; in a stock round this buys the president's certificate."""

    company: str
    price: int
    forms = ("par company:COMPANY price:PAR",)
    menu_fields = ("company", "price")


class BuyShares(Action, frozen=True):
    """Buy certificates; more than one only where the market allows it (1830 §10)."""

    company: str
    source: str
    count: int = 1
    forms = ("buy [count:COUNT] company:COMPANY from source:SOURCE", "buy [count:COUNT] company:COMPANY")
    menu_fields = ("company", "source", "count")


class SellShares(Action, frozen=True):
    """Sell shares in one block, counted in the company's smallest share."""

    company: str
    count: int
    forms = ("sell count:COUNT company:COMPANY", "sell company:COMPANY")
    menu_fields = ("company", "count")


class ExchangePrivate(Action, frozen=True):
    """Exchange a private for the share that it stands for (1830 Table 1 note 3)."""

    private: str
    source: str
    forms = ("exchange private:PRIVATE from source:SOURCE", "exchange private:PRIVATE")
    menu_fields = ("private", "source")


class TradePrivate(Action, frozen=True):
    """Offer to buy or sell a private for dollars (1830 §23.1).

    `source` sells and `target` buys; one of them is the player, or the player's company.
    """

    private: str
    amount: int
    source: str | None = None
    target: str | None = None
    forms = (
        "buy private private:PRIVATE [from source:PLAYER] for amount:AMOUNT",
        "sell private private:PRIVATE to target:PLAYER for amount:AMOUNT",
    )
    menu_fields = ("private", "target", "source")


class BuyPrivateFromPool(Action, frozen=True):
    """Buy a private that is in the open market, at its listed price (1870 §5.3.2)."""

    private: str
    forms = ("buy private private:PRIVATE from pool",)
    menu_fields = ("private",)


class ProtectPrice(Action, frozen=True):
    """Buy what another player has sold of one's company, so that its price stays (1870 §5.9)."""

    company: str
    forms = ("protect company:COMPANY", "protect")
    menu_fields = ("company",)


class SetStandingProtection(Action, frozen=True):
    """Answer later questions whether to protect a company: yes up to so many dollars, 0: never.

    Nobody else is shown it.
    """

    secret = True
    company: str
    amount: int
    forms = ("standing protect company:COMPANY up to amount:AMOUNT",)
    menu_fields = ("company",)


class CancelStandingProtection(Action, frozen=True):
    """Take the answer left for a company back, and be asked again."""

    secret = True
    company: str
    forms = ("standing protect company:COMPANY ask",)
    menu_fields = ("company",)


class RedeemShare(Action, frozen=True):
    """A company buys one of its shares from the open market, or from a player (1870 §5.10)."""

    company: str
    source: str | None = None
    forms = ("redeem company:COMPANY [from source:PLAYER]",)
    menu_fields = ("company", "source")


class ReissueShares(Action, frozen=True):
    """A company offers all the shares that it has redeemed for sale again (1870 §5.11)."""

    company: str
    forms = ("reissue company:COMPANY",)
    menu_fields = ("company",)


class Accept(Action, frozen=True):
    """Accept an open offer. Its number is needed only where several are open."""

    offer: int | None = None
    forms = ("accept [offer:OFFER]",)
    menu_fields = ("offer",)


class Decline(Action, frozen=True):
    """Decline an open offer, or withdraw one's own."""

    offer: int | None = None
    forms = ("decline [offer:OFFER]",)
    menu_fields = ("offer",)


class LayTile(Action, frozen=True):
    """Lay or upgrade a tile in rotation 0-5, perhaps `using` the ability of a private."""

    tile: str
    hex: str
    rotation: int
    using: str | None = None
    forms = (
        "lay tile:TILE hex:HEX rotation:ROTATION [using using:PRIVATE]",
        "lay tile:TILE hex:HEX [using using:PRIVATE]",
    )
    menu_fields = ("using", "hex", "tile", "rotation")


class PlaceToken(Action, frozen=True):
    """Place a station token in a city, which is given as a node of its hex."""

    hex: str
    node: int
    using: str | None = None
    forms = ("token hex,node:CITY [using using:PRIVATE]",)
    menu_fields = ("hex", "node")


class ChooseHome(Action, frozen=True):
    """Choose a company's home among the cities of its hex (1830 §19.1)."""

    company: str
    hex: str
    node: int
    forms = ("home company:COMPANY hex,node:CITY",)
    menu_fields = ("company", "hex", "node")


class RunTrains(Action, frozen=True):
    """Run trains: (train, route) each; none means the best routes.

    `claimed_revenue`: dollars that are paid whatever the routes bring, as in files of 18xx.games.
    """

    routes: tuple[tuple[str, str], ...] = ()
    claimed_revenue: int | None = None
    forms = ("run routes:ROUTES [claiming claimed_revenue:AMOUNT]",)


class PayDividend(Action, frozen=True):
    """Pay the revenue as a dividend."""

    forms = ("pay",)


class WithholdDividend(Action, frozen=True):
    """Keep the revenue in the treasury."""

    forms = ("withhold",)


class PayHalfDividend(Action, frozen=True):
    """Pay half the revenue and keep the rest (1851, Pay Dividends; 1817 §6.6)."""

    forms = ("half",)


class PlaceCattleToken(Action, frozen=True):
    """Place the cattle token in a city (1870 §15.2)."""

    hex: str
    forms = ("cattle hex:HEX",)
    menu_fields = ("hex",)


class PlaceOpenPort(Action, frozen=True):
    """Place an open port in a city (1870 §15.2)."""

    hex: str
    forms = ("port open hex:HEX",)
    menu_fields = ("hex",)


class PlaceClosedPort(Action, frozen=True):
    """Place a closed port in a city, which closes the private (1870 §15.2)."""

    hex: str
    forms = ("port closed hex:HEX",)
    menu_fields = ("hex",)


class ClosePort(Action, frozen=True):
    """Close the private, which turns its open port into a closed one (1870 §15.2)."""

    forms = ("close port",)


class StartConnectionRun(Action, frozen=True):
    """Do the connection run now, or after the turn that is going on (1870 §11)."""

    company: str
    forms = ("connect run company:COMPANY",)
    menu_fields = ("company",)


class PostponeConnectionRun(Action, frozen=True):
    """Leave the connection run for later (1870 §11)."""

    forms = ("connect wait",)


class PlaceDestinationToken(Action, frozen=True):
    """Place the destination token at the destination (1870 §11.4.1)."""

    forms = ("destination place",)


class KeepDestinationToken(Action, frozen=True):
    """Keep the destination token as an ordinary token (1870 §11.4.1)."""

    forms = ("destination keep",)


class IssueShares(Action, frozen=True):
    """A company sells so many of its own shares into the pool (1851, Issue or Redeem Stock)."""

    count: int
    forms = ("issue count:COUNT", "issue")
    menu_fields = ("count",)


class RedeemShares(Action, frozen=True):
    """A company buys so many of its own shares from the pool (1851, Issue or Redeem Stock)."""

    count: int
    forms = ("redeem count:COUNT", "redeem")
    menu_fields = ("count",)


class BuyTrain(Action, frozen=True):
    """Buy a train from the bank or the pool, or for `price` dollars from a company.

    `traded_in`: the type of train that is given up for a discount.
    """

    train: str
    source: str = "bank"
    price: int | None = None
    traded_in: str | None = None
    forms = (
        "buy train train:TRAIN [from source:SELLER] [for price:AMOUNT] [trading traded_in:TRAIN]",
        "buy train",
    )
    menu_fields = ("source", "train", "traded_in")


class DiscardTrain(Action, frozen=True):
    """Discard a train above the limit."""

    train: str
    company: str
    forms = ("discard train:TRAIN of company:COMPANY", "discard train:TRAIN")
    menu_fields = ("train",)


class RaiseBid(Action, frozen=True):
    """Bid dollars in the auction that is open (1817 §5.5, §7.2.4)."""

    amount: int
    forms = ("bid amount:AMOUNT",)


class BidUpTo(Action, frozen=True):
    """Bid the least, and have one's bid raised by the least up to so many dollars."""

    secret = True
    amount: int
    forms = ("bid up to amount:AMOUNT",)


class BidNothing(Action, frozen=True):
    """Leave the auction as soon as one would have to bid."""

    secret = True
    forms = ("bid nothing",)


class StartCompany(Action, frozen=True):
    """Put a president's certificate up for auction with a first bid; its home is that city (1817 §5.5)."""

    company: str
    hex: str
    node: int
    amount: int
    forms = ("start company:COMPANY hex,node:CITY amount:AMOUNT",)
    menu_fields = ("company", "hex", "node")


class FloatCompany(Action, frozen=True):
    """Choose a new company's number of shares and the privates put into it (1817 §5.5)."""

    size: int
    privates: tuple[str, ...] = ()
    forms = ("float size:SIZE [with privates:PRIVATES]",)
    menu_fields = ("size", "privates")


class SellShort(Action, frozen=True):
    """Sell one share that one does not own (1817 §5.3)."""

    company: str
    forms = ("short company:COMPANY",)
    menu_fields = ("company",)


class TakeLoansForCompany(Action, frozen=True):
    """Use the stock turn for a company, which takes loans (1817 §5.6)."""

    company: str
    count: int
    forms = ("for company:COMPANY loan count:COUNT", "for company:COMPANY loan")
    menu_fields = ("company", "count")


class RedeemSharesForCompany(Action, frozen=True):
    """Use the stock turn for a company, which buys its shares from the open market (1817 §5.6)."""

    company: str
    count: int
    forms = ("for company:COMPANY redeem count:COUNT", "for company:COMPANY redeem")
    menu_fields = ("company", "count")


class TakeLoans(Action, frozen=True):
    """The company whose turn it is takes loans (1817 §1.2.5)."""

    count: int
    forms = ("loan count:COUNT", "loan")
    menu_fields = ("count",)


class RepayLoans(Action, frozen=True):
    """The company whose turn it is repays loans (1817 §6.9)."""

    count: int
    forms = ("repay count:COUNT", "repay")
    menu_fields = ("count",)


class PlaceBridge(Action, frozen=True):
    """Place a bridge token on a city; `using` names the private where the company has several (1817
    §1.2.6)."""

    hex: str
    using: str | None = None
    forms = ("bridge hex:HEX [of using:PRIVATE]",)
    menu_fields = ("hex",)


class LayMine(Action, frozen=True):
    """Lay a tile with a coal mine on it; `using` names the private where the company has several (1817
    §1.2.6)."""

    tile: str
    hex: str
    rotation: int
    using: str | None = None
    forms = (
        "lay tile:PLAIN hex:HEX rotation:ROTATION with mine [of using:PRIVATE]",
        "lay tile:PLAIN hex:HEX with mine [of using:PRIVATE]",
        "mine hex:HEX [of using:PRIVATE]",
    )
    menu_fields = ("hex", "tile", "rotation")


class LayMill(Action, frozen=True):
    """Lay the tile of the Pittsburgh Steel Mill (1817 §1.2.6)."""

    rotation: int
    forms = ("mill rotation:ROTATION", "mill")
    menu_fields = ("rotation",)


class Convert(Action, frozen=True):
    """Convert the company to more shares (1817 §7.1.1)."""

    forms = ("convert",)


class Merge(Action, frozen=True):
    """Merge with another company; `survivor` is the one that remains (1817 §7.1.2, §7.1.3)."""

    company: str
    survivor: str | None = None
    forms = ("merge company:COMPANY [as survivor:COMPANY]",)
    menu_fields = ("company", "survivor")


class BuyPostMergerShares(Action, frozen=True):
    """Buy shares of the company that has converted or merged (1817 §7.1.4)."""

    count: int
    forms = ("buy count:COUNT",)
    menu_fields = ("count",)


class SellPostMergerShares(Action, frozen=True):
    """Sell shares of the company that has converted or merged (1817 §7.1.4)."""

    count: int
    forms = ("sell count:COUNT",)
    menu_fields = ("count",)


class OfferCompanyForSale(Action, frozen=True):
    """Offer a company for a friendly sale (1817 §7.2.3)."""

    company: str
    forms = ("offer company:COMPANY",)
    menu_fields = ("company",)


class ChooseBuyer(Action, frozen=True):
    """Name the company that pays the winning bid (1817 §7.2.4)."""

    company: str
    forms = ("buyer company:COMPANY",)
    menu_fields = ("company",)


class WillAct(Action, frozen=True):
    """Answer that one of one's companies will act (1817 §7)."""

    forms = ("act",)


class KeepTokens(Action, frozen=True):
    """Keep the station tokens in these hexes and no others (1817 §7.3)."""

    hexes: tuple[str, ...]
    forms = ("keep hexes:HEXES",)


class RemoveToken(Action, frozen=True):
    """Remove a station token above the limit from the map (1817 §7.3)."""

    hex: str
    node: int
    forms = ("remove hex,node:CITY",)
    menu_fields = ("hex", "node")


class DeclareBankruptcy(Action, frozen=True):
    """Declare that the money cannot be raised (1830 §24)."""

    forms = ("bankrupt",)
