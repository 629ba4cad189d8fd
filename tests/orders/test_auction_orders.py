"""`auto bid` in the auctions of every title, and `auto pass` in them."""

from __future__ import annotations

import pytest

import engine
from engine.standing_orders import limit_as_order, parse_order
from tests.orders.order_table import OrderTable


@pytest.mark.parametrize("title", ["1830", "1870"])
def test_a_waterfall_bid_is_raised_by_the_least_until_the_limit(title: str) -> None:
    t = OrderTable(title)
    privates = list(t.state.private_owners)
    last = privates[-1]
    face = engine.game_of(t.state).private_definition(last).price
    t.arm("Bob", f"auto bid {last} up to {face + 30}")
    t.say(f"Ann: buy {privates[0]}")
    assert t.said == [f"Bob: bid {last} {face + 5}"], "it bids when it is its owner's turn"
    t.say(f"Cid: bid {last} {face + 20}", "Ann: pass")
    assert t.said[1:] == [f"Bob: bid {last} {face + 25}"]
    t.say(f"Cid: bid {last} {face + 30}", "Ann: pass")
    assert t.asked == ["Bob"] and len(t.said) == 2
    assert t.ended == [f"Bob: The least bid for the {last} is ${face + 35} now, above your ${face + 30}."]


def test_the_highest_bidder_is_asked_about_their_turn() -> None:
    t = OrderTable("1830")
    t.arm("Bob", "auto bid BO up to 260")
    t.say("Ann: buy SV", "Cid: pass", "Ann: pass")
    assert t.said == ["Bob: bid BO 225"] and t.asked == ["Bob"] and not t.ended


def test_a_private_that_is_sold_ends_the_order() -> None:
    t = OrderTable("1830")
    t.arm("Bob", "auto bid CS up to 60")
    t.say("Ann: buy SV")
    assert t.asked == ["Bob"], "the CS is on offer: it is bought, not bid on"
    t.say("Bob: pass", "Cid: buy CS")
    assert t.ended == ["Bob: The CS is sold to Cid."]


def test_an_auction_between_the_bidders_of_a_private() -> None:
    t = OrderTable("1830")
    t.say("Ann: bid CS 45", "Bob: bid CS 50")
    t.arm("Ann", "auto bid CS up to 60")
    t.say("Cid: buy SV")
    assert t.said == ["Ann: bid CS 55"] and t.asked == ["Bob"]
    t.say("Bob: bid CS 60")
    assert t.ended == ["Ann: The least bid for the CS is $65 now, above your $60."] and t.asked == ["Ann"]


def test_then_pass_leaves_the_auction_above_the_limit() -> None:
    t = OrderTable("1830")
    t.say("Ann: bid CS 45", "Bob: bid CS 50")
    t.arm("Ann", "auto bid CS up to 60 then pass")
    t.say("Cid: buy SV", "Bob: bid CS 60")
    assert t.said == ["Ann: bid CS 55", "Ann: pass"] and t.ended == ["Ann: The CS is sold to Bob."]


def test_two_limits_against_each_other_end_where_one_is_reached() -> None:
    t = OrderTable("1830")
    t.say("Ann: bid CS 45", "Bob: bid CS 50")
    t.arm("Ann", "auto bid CS up to 80 then pass")
    t.arm("Bob", "auto bid CS up to 70 then pass")
    t.say("Cid: buy SV")
    assert t.said == ["Ann: bid CS 55", "Bob: bid CS 60", "Ann: bid CS 65", "Bob: bid CS 70",
                      "Ann: bid CS 75", "Bob: pass"]  # fmt: skip
    assert t.state.private_owners["CS"] == "p0" and t.state.cash["p0"] == 1200 // 3 * 2 - 75


def test_an_auction_in_turns_with_seed_money() -> None:
    t = OrderTable("1817")
    t.arm("Bob", "auto bid MAJM up to 30")
    t.arm("Cid", "auto pass")
    assert t.said == [] and t.asked == ["Ann"]
    t.say("Ann: bid MAJM 10")
    assert t.said == ["Bob: bid MAJM 15", "Cid: pass"] and t.asked == ["Ann"]
    t.say("Ann: bid MAJM 30")
    assert t.ended == ["Bob: The least bid for the MAJM is $35 now, above your $30."]


def test_the_item_of_the_auction_that_goes_on_need_not_be_named() -> None:
    t = OrderTable("1817")
    t.say("Ann: bid MAJM 10")
    assert t.arm("Cid", "auto bid up to 25") == "auto bid MAJM up to 25"
    t.say("Bob: pass")
    assert t.said == ["Cid: bid MAJM 15"]


def test_auto_pass_does_not_leave_an_auction_in_which_its_owner_bids_afterwards() -> None:
    t = OrderTable("1817")
    t.arm("Bob", "auto pass")
    t.say("Ann: bid MAJM 10")
    assert t.said == ["Bob: pass"]
    t.say("Cid: bid MAJM 15", "Ann: pass")
    assert t.state.private_owners["MAJM"] == "p2"
    t.arm("Ann", "auto pass")
    assert "Ann: pass" not in t.said


@pytest.mark.parametrize(
    ("title", "before", "item", "auction", "said"),
    [
        ("1830", ["Ann: bid CS 45", "Bob: bid CS 50"], "CS", ["Cid: buy SV"], ["Ann: pass"]),
        ("1817", [], "MAJM", ["Cid: bid MAJM 10"], ["Ann: pass"]),
    ],
)
def test_an_auction_is_left_before_it_begins(
    title: str, before: list[str], item: str, auction: list[str], said: list[str]
) -> None:
    t = OrderTable(title)
    t.say(*before)
    assert t.arm("Ann", f"auto bid {item} nothing") == f"auto bid {item} nothing"
    assert t.preview("Ann", f"auto bid {item} nothing").startswith("It would say nothing now")
    t.say(*([] if before else ["Ann: pass", "Bob: pass"]), *auction)
    assert t.said == said


def test_an_order_in_advance_says_nothing_before_its_owners_turn() -> None:
    """Cid may answer in advance; an order that did would show itself before it has to."""
    t = OrderTable("1817")
    t.say("Ann: bid MAJM 10")
    t.arm("Cid", "auto pass")
    assert t.said == [] and set(t.asked) == {"Bob", "Cid"}
    t.say("Bob: bid MAJM 15")
    assert t.said == ["Cid: pass"]


def test_a_company_with_the_symbol_of_a_private_that_is_sold() -> None:
    """1817 has a private ME and a company ME."""
    cash = "".join(f"@ cash {name} 900\n" for name in ("Ann", "Bob", "Cid"))
    t = OrderTable("1817", f"{cash}@ private ME Cid\n@ round stock Ann")
    t.say("Ann: start ME C8 100")
    bob = t.seat("Bob")
    for line in ("bid up to 110", "bid nothing"):
        order = limit_as_order(t.state, bob, line)
        assert order is not None and parse_order(engine.game_of(t.state), bob, order)
    t.arm("Cid", "auto bid ME up to 110 then pass")
    t.arm("Bob", "auto bid up to 150")
    assert t.said == ["Bob: bid 105", "Cid: bid 110"]
    t.say("Ann: pass")
    assert t.said[2:] == ["Bob: bid 115", "Cid: pass"]
    t.say("Bob: pass")
    assert t.ended == ["Cid: The auction for the ME is over.", "Bob: The auction for the ME is over."]


@pytest.mark.parametrize(
    ("title", "line", "reason"),
    [
        ("1830", "auto bid BO up to 200", "The least bid for the BO is $225."),
        ("1830", "auto bid PRR up to 200", "The PRR is not being auctioned."),
        ("1817", "auto bid MAJM up to 12", "Bids go by $5; `auto bid MAJM up to 10` is the step below $12."),
        ("1851", "auto bid UR up to 200", None),
    ],
)
def test_a_bid_that_could_never_be_made(title: str, line: str, reason: str | None) -> None:
    t = OrderTable(title)
    with pytest.raises((engine.RefusedError, engine.UnreadableError)) as error:
        parse_order(engine.game_of(t.state), "p0", line)
    assert reason is None or str(error.value) == reason
