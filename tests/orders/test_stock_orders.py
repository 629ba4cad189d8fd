"""`auto pass` and `auto buy` in stock rounds: each test names the broken case of other programs it avoids."""

from __future__ import annotations

import pytest

import engine
from engine.standing_orders import ArmedOrder, masking_order, parse_order
from tests.orders.order_table import OrderTable

MARKET = """
@ owns Ann PRR 6
@ owns Bob NYC 3
@ owns Ann NYC 1
@ owns Cid B&O 2
@ price PRR 100
@ price NYC 90
@ price B&O 80
@ cash Ann 600
@ cash Bob 600
@ cash Cid 600
@ round stock Ann
"""


BUY = "Cid: buy NYC from ipo"


def table() -> OrderTable:
    return OrderTable("1830", MARKET)


def test_auto_pass_passes_until_the_round_is_over() -> None:
    t = table()
    t.arm("Bob", "auto pass")
    assert t.said == [] and t.ended == []
    t.say("Ann: buy NYC from ipo", "Ann: pass", "Cid: buy B&O from ipo", "Cid: pass")
    assert t.said == [
        "Bob: pass",
    ] and t.asked == ["Ann"]
    t.say("Ann: pass", "Cid: pass")
    assert t.said == ["Bob: pass", "Bob: pass"]
    assert t.ended == ["Bob: The round is over."] and not t.armed


def test_an_order_that_is_left_in_its_owners_turn_speaks_at_once() -> None:
    t = table()
    t.arm("Ann", "auto pass")
    assert t.said == ["Ann: pass"] and t.asked == ["Bob"]


def test_a_chain_of_orders_is_one_wake_up() -> None:
    t = table()
    t.arm("Bob", "auto pass")
    t.arm("Cid", "auto pass")
    t.say("Ann: pass")
    assert t.said == ["Bob: pass", "Cid: pass"] and not t.armed
    assert engine.round_name(t.state).startswith("operating round")


def test_auto_pass_left_in_an_operating_round_is_for_the_next_stock_round() -> None:
    t = table()
    t.say("Ann: pass", "Bob: pass", "Cid: pass")
    t.arm("Bob", "auto pass")
    assert not t.ended and len(t.armed) == 1 and t.said == []


def test_auto_pass_ends_when_somebody_sells_what_its_owner_holds() -> None:
    t = table()
    t.arm("Cid", "auto pass")
    t.arm("Bob", "auto pass")
    t.say("Ann: sell 1 NYC", "Ann: pass")
    assert t.ended == ["Bob: Ann has sold shares of the NYC, of which you hold some."]
    assert t.asked == ["Bob"] and t.said == []
    t.say("Bob: pass")
    assert t.said == ["Cid: pass"], "Cid holds nothing of the NYC"


def test_auto_pass_ends_when_a_presidency_is_in_reach_of_another() -> None:
    """Bob is president of the NYC with 30 %, and Ann has 10 %. At 20 % the next purchase makes 30 %, which is
    no more than Bob's; at 30 % the next one would be."""
    t = table()
    t.arm("Bob", "auto pass")
    t.say("Ann: buy NYC from ipo", "Ann: pass", "Cid: pass")
    assert t.said == ["Bob: pass"]
    t.say("Ann: buy NYC from ipo", "Ann: pass")
    assert t.ended == ["Bob: Ann could become president of the NYC with the next purchase."]
    assert t.asked == ["Bob"]


@pytest.mark.parametrize("rest", ["pool 1\n@ owns treasury MP 1", "pool 2"])
def test_redeemed_shares_bring_no_presidency_in_reach(rest: str) -> None:
    """1870 §5.10: nobody can buy them. Ann has 40 % after her purchase, as Bob has."""
    owners = "@ owns Bob MP 4\n@ owns Ann MP 3\n@ owns Cid MP 1\n@ owns " + rest.replace("pool", "pool MP")
    t = OrderTable("1870", f"@ par MP 68\n@ cash Ann 500\n@ cash Bob 500\n{owners}\n@ round stock Ann")
    t.arm("Bob", "auto pass")
    t.say("Ann: buy MP from pool", "Ann: pass")
    reason = "Bob: Ann could become president of the MP with the next purchase."
    assert t.ended == [reason] * ("treasury" not in rest)


def test_what_happened_before_the_arming_does_not_end_an_order() -> None:
    """18xx.games #5215: a program was disarmed by what had happened before it was armed."""
    t = table()
    t.say("Ann: buy NYC from ipo", "Ann: pass", "Bob: pass", "Cid: pass")
    t.say("Ann: buy NYC from ipo", "Ann: pass", "Bob: pass", "Cid: pass")
    t.say("Ann: sell 1 PRR")
    t.arm("Bob", "auto pass")
    t.say("Ann: pass")
    assert t.said == ["Bob: pass"] and not t.ended


def test_a_pass_of_others_is_no_event() -> None:
    """18xx.games #9300: a program was disarmed because somebody else declined."""
    t = table()
    t.arm("Cid", "auto pass")
    t.say("Ann: pass", "Bob: pass")
    assert t.said == ["Cid: pass"]


def test_auto_pass_once() -> None:
    t = table()
    t.arm("Bob", "auto pass once")
    t.say("Ann: buy NYC from ipo", "Ann: pass")
    assert t.said == ["Bob: pass"] and t.ended == ["Bob: It has passed."] and t.asked == ["Cid"]


@pytest.mark.parametrize(
    ("condition", "happens", "reason"),
    [
        ("price PRR < 100", ["Ann: sell 1 PRR", "Ann: pass"], "The price of the PRR is below $100."),
        ("NYC floats", ["Ann: buy NYC from ipo", "Ann: pass", BUY], "The NYC has floated."),
        ("Erie starts", ["Ann: par Erie 67", "Ann: pass"], "The Erie has started."),
        ("PRR sold", ["Ann: sell 1 PRR", "Ann: pass"], "Shares of the PRR were sold."),
        ("NYC bought or price PRR > 200", ["Ann: buy NYC from ipo"], "Shares of the NYC were bought."),
    ],
)  # fmt: skip
def test_stops_of_its_owner(condition: str, happens: list[str], reason: str) -> None:
    t = table()
    assert t.arm("Bob", f"auto pass unless {condition}") == f"auto pass unless {condition}"
    t.say(*happens)
    assert t.ended == [f"Bob: {reason}"]


def test_a_turn_that_its_owner_has_begun_is_left_to_them() -> None:
    t = table()
    t.say("Ann: sell 1 PRR")
    t.arm("Ann", "auto pass")
    assert t.said == [] and t.asked == ["Ann"], "Ann may sell and buy more before she is done"


def test_auto_buy_until_floated_and_then_pass() -> None:
    t = table()
    assert t.arm("Bob", "auto buy nyc until floated then pass") == "auto buy NYC until floated then pass"
    t.say("Ann: pass", "Cid: pass", "Ann: buy B&O from ipo", "Ann: pass", "Cid: pass")
    bought = "Bob: buy NYC from ipo"
    assert t.said == [bought, "Bob: pass", bought, "Bob: pass"]
    assert t.state.companies["NYC"].floated
    t.say("Ann: pass")
    assert t.said[4:] == ["Bob: pass"] and not t.armed


def test_auto_buy_buys_where_it_is_cheapest_or_where_its_owner_says() -> None:
    for line, source in (("auto buy PRR", "pool"), ("auto buy PRR from ipo", "ipo")):
        t = OrderTable(
            "1830", MARKET.replace("@ price PRR 100", "@ price PRR 67\n@ par PRR 100\n@ owns pool PRR 1")
        )
        t.arm("Bob", line)
        t.say("Ann: pass")
        assert t.said[0] == f"Bob: buy PRR from {source}"
        assert t.ended == ["Bob: It has bought what you asked for of the PRR."]


def test_auto_buy_so_many() -> None:
    t = table()
    t.arm("Bob", "auto buy 2 B&O")
    t.say("Ann: pass", "Cid: pass", "Ann: pass", "Cid: buy PRR from ipo", "Cid: pass", "Ann: pass")
    assert t.said.count("Bob: buy B&O from ipo") == 2 and t.asked == ["Bob"]
    assert t.ended == ["Bob: It has bought what you asked for of the B&O."]


def test_auto_buy_ends_above_its_price() -> None:
    t = table()
    t.arm("Bob", "auto buy PRR up to 90")
    t.say("Ann: pass")
    assert t.said == [] and t.asked == ["Bob"]
    assert t.ended == ["Bob: A share of the PRR costs $100, more than your $90."]


def test_auto_buy_ends_when_somebody_else_becomes_president() -> None:
    t = table()
    t.arm("Cid", "auto buy 3 NYC")
    for _ in range(3):
        t.say("Ann: buy NYC from ipo", "Ann: pass", "Bob: pass")
    assert t.said.count("Cid: buy NYC from ipo") == 2
    assert t.ended == ["Cid: Ann has become president of the NYC."]


@pytest.mark.parametrize("orders", [["auto buy PRR then pass"], ["auto buy PRR", "auto pass"]])
def test_a_purchase_that_fails_triggers_no_pass(orders: list[str]) -> None:
    """18xx.games #9316: the pass was said though the purchase before it was not possible."""
    t = OrderTable("1830", MARKET.replace("@ cash Bob 600", "@ cash Bob 50"))
    for order in orders:
        t.arm("Bob", order)
    t.say("Ann: pass")
    assert t.said == [] and t.asked == ["Bob"] and not t.armed
    assert t.ended[0] == "Bob: The PRR cannot be bought: That costs $100, and Bob has $50 (1830 §4)."
    t.say("Bob: pass", "Cid: buy NYC from ipo", "Cid: pass", "Ann: pass")
    assert t.said == [] and t.asked == ["Bob"], "the pass that was to follow is not said later either"


def test_two_orders_speak_in_the_order_of_their_owner() -> None:
    t = table()
    t.arm("Bob", "auto buy B&O")
    t.arm("Bob", "auto pass")
    t.say("Ann: pass", "Cid: pass", "Ann: pass")
    assert t.said == ["Bob: buy B&O from ipo", "Bob: pass", "Bob: pass"]
    other = table()
    other.arm("Bob", "auto pass once")
    other.arm("Bob", "auto buy B&O")
    other.say("Ann: pass", "Cid: buy NYC from ipo", "Cid: pass", "Ann: pass")
    assert other.said == ["Bob: pass", "Bob: buy B&O from ipo", "Bob: pass"]


def test_an_order_does_not_say_what_its_owner_could_not() -> None:
    """Bob is above the certificate limit of the NYC and has to sell first (1830 §10)."""
    t = OrderTable("1830", MARKET.replace("@ owns Bob NYC 3", "@ owns Bob NYC 7"))
    t.arm("Bob", "auto pass")
    t.say("Ann: pass")
    assert t.said == [] and t.asked == ["Bob"]
    assert t.ended == ["Bob: You cannot pass now: Sell down to the limit first: 10 % of the NYC (1830 §10)."]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("auto", "The order says nothing."),
        ("auto pas", "'pas' is no order. Write, for example: auto pass;"),
        ("auto bye", "'bye' is no order. Write, for example: auto buy COMPANY"),
        ("auto pass twice", "'twice' is not understood after 'auto pass'."),
        ("auto buy", "A company should follow 'auto buy'."),
        ("auto buy XYZ", "A company should follow 'auto buy', not 'XYZ'."),
        ("auto pass unless price NYC 80", "'<' or '>' and a price should follow 'price NYC'."),
        ("auto pass: NYC", "Only `auto turn COMPANY:` has a colon."),
        ("auto decline", "'deals', 'polls' or 'votes' should follow 'auto decline'."),
        ("auto bid XX up to 5", "A private or a company should follow 'auto bid', not 'XX'."),
        ("standing protect B&O up to x", "An amount in dollars should follow 'standing protect B&O up to'"),
    ],
)
def test_an_order_that_cannot_be_read(line: str, reason: str) -> None:
    t = table()
    with pytest.raises(engine.UnreadableError) as error:
        parse_order(engine.game_of(t.state), "p0", line)
    assert str(error.value).startswith(reason) and "for example: auto " in str(error.value)
    assert ("auto pass" in error.value.nearest_lines) == line.startswith("auto pas")
    for each in error.value.nearest_lines:
        parse_order(engine.game_of(t.state), "p0", each)  # it can be sent as it stands


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("auto buy PRR until floated", "The PRR has floated; say how many shares: `auto buy 2 PRR`."),
        ("auto buy Erie", "The Erie has not started; its president's certificate is bought with `par`."),
        ("auto buy 11 NYC", "Between 1 and 10 shares can be bought by an order."),
        (
            "auto pass unless price PRR < 110",
            "The price of the PRR is below $110 already; name something that has not happened yet.",
        ),
        ("auto run PRR", "Ann is president of the PRR, so only they can order its turns."),
        ("auto bid BO up to 260", "The BO is not for sale."),
        ("auto protect PRR up to 300", "There is no price protection in this game."),
    ],
)  # fmt: skip
def test_an_order_that_could_never_speak(line: str, reason: str) -> None:
    t = table()
    with pytest.raises(engine.RefusedError) as error:
        parse_order(engine.game_of(t.state), "p1", line)
    assert str(error.value) == reason


def test_a_company_that_is_started_by_auction() -> None:
    """1817 knows no `par`."""
    g = engine.game_of(OrderTable("1817").state)
    with pytest.raises(engine.RefusedError) as error:
        parse_order(g, "p1", "auto buy WC up to 80")
    assert str(error.value) == "The WC has not started; it is auctioned with `start`."


def test_judging_changes_nothing() -> None:
    t = table()
    before = engine.encode_state(t.state)
    t.preview("Bob", "auto pass")
    t.preview("Ann", "auto run PRR")
    assert engine.encode_state(t.state) == before


@pytest.mark.parametrize("title", ["1830", "1870"])
def test_auto_pass_of_all_in_the_opening_goes_round_once(title: str) -> None:
    """1830 §7.3: after that the privates have paid, or the first has become cheaper."""
    t = OrderTable(title)
    for name in ("Ann", "Bob", "Cid"):
        t.arm(name, "auto pass")
    assert t.said == ["Ann: pass", "Bob: pass", "Cid: pass"]
    assert t.ended == [
        "Ann: Everybody has passed since you did, so the privates have paid or become cheaper."
    ]
    t.say("Ann: bid CS 45" if title == "1830" else "Ann: pass")
    assert len(t.said) == (5 if title == "1830" else 3)


def test_auto_pass_until_somebody_starts_a_company_or_sells() -> None:
    for line, reason in (
        ("Cid: par ERIE 67", "A company has started."),
        ("Cid: sell 1 PRR", "Shares were sold."),
    ):
        t = OrderTable("1830", f"@ owns Cid PRR 1\n{MARKET}")
        assert t.arm("Bob", "auto pass unless par or sale") == "auto pass unless par or sale"
        t.say("Ann: pass")
        assert t.said == ["Bob: pass"]
        t.say(line)
        assert t.ended == [f"Bob: {reason}"]


def test_a_private_is_bought_at_a_price() -> None:
    t = OrderTable("1830")
    assert t.arm("Cid", "auto buy private dh up to 70") == "auto buy private DH up to 70"
    t.say("Ann: buy SV")
    assert t.said == [] and t.asked == ["Bob"]
    t.say("Bob: buy CS")
    assert t.said == ["Cid: buy DH"] and t.ended == ["Cid: The DH is sold to Cid."]


def test_a_private_whose_price_falls_is_waited_for() -> None:
    t = OrderTable("1830")
    t.arm("Ann", "auto buy private SV up to 15")
    assert t.said == []
    t.say("Ann: pass", "Bob: pass", "Cid: pass")
    assert t.said == ["Ann: buy SV"]


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ("auto buy private DH up to 60", "The DH costs $70."),
        ("auto buy private SV up to 20", "The SV is not for sale."),
    ],
)
def test_a_private_that_could_never_be_bought(order: str, reason: str) -> None:
    t = OrderTable("1830")
    t.say("Ann: buy SV")
    with pytest.raises(engine.RefusedError) as error:
        t.arm("Bob", order)
    assert str(error.value) == reason


def test_orders_that_mask_each_other() -> None:
    """`auto pass` first is never silent in its round, so the purchase below it never happens."""
    t = table()
    cases = (
        ("auto pass", "auto buy 2 NYC", True),
        ("auto buy 2 NYC", "auto pass", False),
        ("auto pass once", "auto buy 2 NYC", False),
        ("auto buy B&O then pass", "auto buy 2 NYC", True),
        ("auto buy B&O", "auto buy 2 NYC", False),
        ("auto decline polls", "auto decline votes", True),
        ("auto decline votes", "auto decline polls", False),
    )
    for first, then, masked in cases:
        seat = t.seat("Bob")
        before, after = (
            ArmedOrder(n, seat, parse_order(engine.game_of(t.state), seat, line), t.state)
            for n, line in enumerate((first, then))
        )
        assert (masking_order(after, [before], t.state) is before) is masked, (first, then)
