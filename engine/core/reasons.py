"""Why money, prices, trains and loans moved: the reasons that events give.

A reason is stored with its event, so its value never changes. The words that players read are made from it
in `engine.language.narration`.
"""

from __future__ import annotations

from enum import StrEnum


class CashReason(StrEnum):
    """What a payment was for. The comment names the `subject` of the event, where it has one."""

    BANKRUPTCY = "bankruptcy"
    CAPITAL = "capital"
    CLOSING = "closing"
    """A company's money goes to the bank as it is closed; the company."""
    COMPANY = "company"
    """The price of a company that is bought; the company."""
    COMPANY_CASH = "company_cash"
    """What a company had, to the president who pays its interest."""
    DIVIDEND = "dividend"
    """From the company; short sellers pay it to the bank."""
    FORFEIT = "forfeit"
    """What a president was adding to the train of a company that is closed by the sale."""
    INTEREST = "interest"
    """The company for which its president pays, if they do."""
    LOAN = "loan"
    LOAN_REPAYMENT = "loan_repayment"
    LOAN_SHORTFALL = "loan_shortfall"
    """Loans that a liquidated company could not repay, from its president; the company."""
    PRESIDENT_CASH = "president_cash"
    """What a bankrupt president had, to the company whose interest they owed."""
    PRESIDENT_CERTIFICATE = "president_certificate"
    """The company."""
    PRIVATE = "private"
    """The price of a private company; the private."""
    PRIVATE_INCOME = "private_income"
    """The private, if it is one."""
    REMAINDER = "remainder"
    """What is left in the treasury of a company that leaves play."""
    REVENUE = "revenue"
    """Revenue that the company keeps."""
    SET_ASIDE = "set_aside"
    """Cash of a company in liquidation, set aside for its loans."""
    SHARE_SETTLEMENT = "share_settlement"
    """For shares of a company that is sold; the company."""
    SHARES = "shares"
    """The company."""
    SHORT_SALE = "short_sale"
    """The company."""
    SHORT_SETTLEMENT = "short_settlement"
    """For short shares of a company that is sold; the company."""
    TAKEOVER = "takeover"
    """What a company had goes to the one that takes it over."""
    TERRAIN = "terrain"
    """The hex."""
    TOKEN = "token"
    TOKENS = "tokens"
    TRACK = "track"
    """Terrain, and the second tile of a turn; the hex."""
    TRAIN = "train"
    """The type of train."""
    TRAIN_CONTRIBUTION = "train_contribution"
    """What the president adds in a forced purchase."""
    TREASURY_SHARES = "treasury_shares"
    """Shares in the treasury of a company that is sold; the company."""


class PriceReason(StrEnum):
    """Why the token of a company moved on the stock market."""

    CONNECTION_RUN = "connection_run"
    FLOATED = "floated"
    HALF_DIVIDEND = "half_dividend"
    HELD_BY_PLAYERS = "held_by_players"
    INTEREST_UNPAID = "interest_unpaid"
    DIVIDEND = "dividend"
    ISSUED = "issued"
    LOAN = "loan"
    LOAN_REPAYMENT = "loan_repayment"
    LOAN_TAKEN_OVER = "loan_taken_over"
    MERGED = "merged"
    NO_DIVIDEND = "no_dividend"
    NO_PRESIDENT = "no_president"
    NO_TRAIN = "no_train"
    SHARES_IN_POOL = "shares_in_pool"
    SOLD = "sold"
    SOLD_OUT = "sold_out"
    TOKENS_UNPAID = "tokens_unpaid"
    WITHHELD = "withheld"


class TrainReason(StrEnum):
    """Why a train changed hands or left the game."""

    BOUGHT = "bought"
    COMPANY_CLOSED = "company_closed"
    DISCARDED = "discarded"
    EXPORTED = "exported"
    OBSOLETE = "obsolete"
    SCRAPPED = "scrapped"
    """With a company that nobody bought."""
    TAKEOVER = "takeover"
    TRADED_IN = "traded_in"


class LoanReason(StrEnum):
    """Why a company has more loans, or fewer."""

    PASSED_ON = "passed_on"
    """To the company that takes it over."""
    REPAID = "repaid"
    SET_ASIDE = "set_aside"
    TAKEN = "taken"
    TAKEN_OVER = "taken_over"
    """From the company that it has taken over."""
