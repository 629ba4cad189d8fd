"""1870 §11: destinations, connection runs, destination tokens."""

import pytest

from engine import options, parse
from engine.core.actions import LayTile, StartConnectionRun
from engine.core.events import CompanyClosed
from engine.core.state import ConnectionRunTurn, OperatingRound
from engine.kernel import RefusedError, end_by_agreement, game_of
from engine.operating import connection_runs
from engine.operating.connection_runs import can_do_connection_run
from engine.operating.stations import free_slots, reserved_slots
from engine.operating.track import place_tile, tile_fits
from tests.t1870.scenarios import SITE, run_scenario

FW = """
@ owns Ann FW 6
@ owns Bob FW 4
@ price FW 100 0
@ cash FW 300
@ trains FW 3
@ owns Bob SSW 6
@ price SSW 90 1
@ cash SSW 300
@ private MRBC closed
@ tile H17 57 1
@ tile H15 9 1
@ tile H13 57 1
@ tile H11 9 1
@ tile H9 8 4
@ tile I8 9 0
@ tile J7 8 1
@ tile J5 57 1
@ tile J3 57 1
@ phase 3
@ depot 4
"""
"""Memphis, Little Rock, Dallas and Fort Worth in one line: the SSW needs a 4-train."""


def test_11_1_a_train_of_the_companys_own_has_to_be_long_enough() -> None:
    g = game_of(run_scenario(FW + "@ trains SSW 3 3\n@ round operating FW\n= turn Ann FW"))
    assert not can_do_connection_run(g, "SSW")
    g.company("SSW").trains.append("4")
    assert can_do_connection_run(g, "SSW")


def test_11_1_3_tokens_of_others_can_postpone_it() -> None:
    body = FW + "@ trains SSW 4\n@ owns Cid ATSF 6\n@ price ATSF 82 2\n@ token ATSF H13\n"
    assert not can_do_connection_run(
        game_of(run_scenario(body + "@ round operating FW\n= turn Ann FW")), "SSW"
    )


@pytest.mark.parametrize(("options", "round"), [((), 1), ((SITE,), 2)], ids=("rulebook", "site"))
def test_11_2_a_company_that_closes_in_its_own_turn_opens_the_way(
    options: tuple[str, ...], round: int
) -> None:
    """On the site that is seen after the next turn, or before the first of the next round."""
    blocked = "@ trains SSW 4\n@ owns Cid ATSF 6\n@ price ATSF 10 7\n@ token ATSF H13\n@ cash ATSF 0\n"
    body = FW + blocked + "@ round operating ATSF\n"
    state = run_scenario(body + "Cid: done\n= closed ATSF", options=options)
    base = state.stack[0]
    assert isinstance(base, OperatingRound) and base.number == round
    assert isinstance(state.top, ConnectionRunTurn) and state.top.company == "SSW"


def test_11_1_5_what_is_due_comes_before_the_first_turn() -> None:
    run_scenario(
        FW + "@ trains SSW 4\n@ round operating FW\n= turn Bob SSW\n"
        "!Ann: done | 1870 §11.4\nBob: connect wait\n= turn Ann FW"
    )


CONNECTED = FW + "@ trains SSW 4\n@ round operating FW\nBob: connect run\n"


def test_11_4_1_the_destination_token_is_placed_though_the_city_is_full() -> None:
    run_scenario(
        CONNECTED
        + "Bob: destination place\n= destination SSW J3\n= token SSW H17 J3\n= markers SSW 1\n= connected SSW"
    )


def test_11_4_1_or_kept_for_100_dollars() -> None:
    state = run_scenario(CONNECTED + "Bob: destination keep\n= markers SSW 2\n= destination SSW none")
    assert state.companies["SSW"].kept_destination_tokens == 1


def test_11_4_2_a_train_runs_between_home_and_destination() -> None:
    body = CONNECTED + "Bob: destination place\n"
    run_scenario(
        body + "!Bob: run 4 H13-H17 | 1870 §11.4\n!Bob: pass | 1870 §8.3\nBob: run best\n= turn Bob SSW"
    )
    run_scenario(
        body + "= best SSW 100\nBob: run 4 H17-H13-J5-J3\nBob: pay\n= cash Bob 60\n= price SSW 100 0"
    )


def test_11_4_2_withheld_it_does_not_move_and_half_is_not_paid() -> None:
    run_scenario(
        CONNECTED + "Bob: destination keep\nBob: run best\n!Bob: half | 1870 §4.1\n"
        "Bob: withhold\n= price SSW 90 1\n= cash SSW 380"
    )


def test_11_2_the_others_come_by_price_and_on_the_site_as_the_round_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    g = game_of(run_scenario(FW + "@ owns Ann MP 6\n@ price MP 82 2\n@ round operating FW\n= turn Ann FW"))
    monkeypatch.setattr(connection_runs, "can_do_connection_run", lambda g, company: True)
    assert list(connection_runs.due_connections(g, "MP")) == ["MP", "FW", "SSW"]
    assert list(connection_runs.due_connections(g, "MP", ("SSW", "MP"))) == ["MP", "SSW", "FW"]
    assert [isinstance(f, OperatingRound) and f.operated for f in g.state.stack[:1]] == [("FW",)]


def test_11_2_on_the_site_who_begins_is_settled_before_a_run_moves_a_price() -> None:
    run = "Bob: destination place\nBob: run best\nBob: pay\n= price SSW 100 1\n"
    body = FW + "@ trains SSW 4\n@ round operating FW\n= turn Bob SSW\n"
    run_scenario(body + run + "= turn Ann FW", options=(SITE,))


def test_11_3_only_once() -> None:
    run_scenario(
        CONNECTED
        + (
            "Bob: destination keep\nBob: run best\nBob: withhold\n= turn Ann FW\nAnn: done\n"
            "> until SSW\n= connected SSW"
        )
    )


def test_11_5_the_destination_counts_twice_at_the_end_of_a_route() -> None:
    body = FW + "@ trains SSW 4\n@ destination SSW J3\n@ round operating SSW\n= best SSW 100"
    run_scenario(body)
    run_scenario(
        body.replace("@ destination SSW J3", "@ connected SSW").replace("best SSW 100", "best SSW 80")
    )


def test_8_3_1_first_doubled_then_the_tokens_of_privates() -> None:
    run_scenario(
        FW + "@ trains SSW 4\n@ destination SSW J3\n@ cattle J3 SSW\n@ round operating SSW\n= best SSW 110"
    )


def test_11_2_whose_turn_it_was_comes_first_then_by_price() -> None:
    both = FW.replace("@ owns Ann FW 6", "@ owns Ann FW 6\n@ owns Cid MP 6\n@ price MP 82 2\n@ cash MP 300")
    both += "@ tile E16 8 1\n@ tile C18 57 0\n"
    state = run_scenario(both + "@ trains SSW 4\n@ round operating FW\n= turn Bob SSW")
    assert type(state.top).__name__ == "ConnectionRunTurn"


def test_11_a_connection_that_waits_can_be_asked_for_later() -> None:
    body = FW + "@ trains SSW 4\n@ round operating FW\nBob: connect wait\n= turn Ann FW\n"
    run_scenario(
        body + "!Ann: connect run SSW | 1870 §11.1\nBob: connect run SSW\n"
        "Ann: done\n> until SSW\n= turn Bob SSW"
    )


def test_11_a_game_that_is_over_offers_no_postponed_run() -> None:
    state = run_scenario(FW + "@ trains SSW 4\n@ round operating FW\nBob: connect wait\n")
    assert any(isinstance(each.action, StartConnectionRun) for each in options(state, "p1"))
    assert options(end_by_agreement(state).state, "p1") == []


def test_11_who_has_postponed_no_run_is_not_told_of_a_company_that_is_not_theirs() -> None:
    postponed = FW + "@ trains SSW 4\n@ round operating FW\nBob: connect wait\n= turn Ann FW\n"
    none = "Ann has no company with a postponed connection run (1870 §11.1)."
    others = "Only the president of the SSW asks for its connection run (1870 §11.1)."
    told = [
        ("p0", "connect run", f"{none} {others}"),
        ("p0", "connect run ATSF", none),
        ("p0", "connect run SSW", others),
        ("p1", "connect run FW", "The FW has no postponed connection run (1870 §11.1)."),
    ]
    in_stock_round = "Connection runs are made in operating rounds (1870 §11.2)."
    for body, seat, line, why in [
        *((postponed, *each) for each in told),
        (FW + "@ round stock Bob\n= turn Bob", "p1", "connect run", in_stock_round),
    ]:
        with pytest.raises(RefusedError) as refused:
            parse(run_scenario(body), seat, line)
        assert str(refused.value) == why


WARS = (SITE, "station_wars")
IN_J3 = "@ trains SSW 4\n@ round operating FW\nBob: destination place"


@pytest.mark.parametrize("option", ["station_wars", "original_rules"])
def test_on_the_site_a_destination_token_makes_one_more_slot_where_none_is_vacant(option: str) -> None:
    g = game_of(run_scenario(FW + IN_J3, options=(SITE, option)))
    assert g.state.added_slots == {"J3": 1} and free_slots(g, "J3", 0) == 0
    g.emit(CompanyClosed("FW"))
    assert free_slots(g, "J3", 0) == 1


def test_on_the_site_a_destination_token_takes_a_vacant_slot() -> None:
    g = game_of(run_scenario(FW.replace("@ tile J3 57 1", "@ tile J3 14 1") + IN_J3, options=WARS))
    assert g.state.added_slots == {} and free_slots(g, "J3", 0) == 0


@pytest.mark.parametrize(
    ("others", "added"), [("", 0), ("@ owns Cid MP 6\n@ price MP 82 2\n@ token MP J3\n", 1)]
)
def test_on_the_site_a_tile_has_its_own_slots_again_or_those_of_the_tokens(others: str, added: int) -> None:
    body = FW.replace("@ tile J3 57 1", "@ tile J3 14 1" if others else "@ tile J3 57 1")
    g = game_of(run_scenario(body + others + IN_J3, options=WARS))
    before = g.state.added_slots["J3"]
    tile = "170" if others else "14"
    place_tile(g, "FW", LayTile(tile, "J3", next(f.rotation for f in tile_fits(g, tile, "J3"))))
    assert before == 1 and g.state.added_slots.get("J3", 0) == added


def test_on_the_site_a_slot_that_is_kept_for_a_home_is_not_taken() -> None:
    body = """
    @ owns Ann GMO 6
    @ price GMO 100 0
    @ tile C18 57 0
    @ destination GMO C18
    @ round operating GMO
    = turn Ann GMO
    """
    g = game_of(run_scenario(body, options=WARS))
    assert g.state.added_slots == {"C18": 1} and reserved_slots(g, "C18", 0) == 1


@pytest.mark.parametrize("options", [(), (SITE,)])
def test_11_4_1_in_a_red_area_it_stands_and_may_be_run_from(options: tuple[str, ...]) -> None:
    body = """
    @ owns Ann SP 6
    @ price SP 100 0
    @ owns Bob MKT 6
    @ price MKT 90 1
    @ destination MKT N1
    @ tile N3 9 1
    @ tile N5 9 1
    @ tile N7 57 1
    @ trains MKT 2
    @ phase 2
    @ depot 3
    @ round operating MKT
    = best MKT 60
    """
    run_scenario(body, options=options)


TOGETHER = FW.replace("@ price SSW 90 1", "@ price SSW 82 2").replace("@ tile H13 57 1", "@ tile H13 14 0")
TOGETHER += "@ owns Cid MP 6\n@ price MP 90 1\n@ cash MP 300\n@ trains SSW 4\n@ trains MP 4\n@ closed TP\n"
TOGETHER += "@ tile C18 57 0\n@ tile D17 4 0\n@ tile E16 9 0\n@ tile F15 9 0\n@ tile G14 9 0\n"
TOGETHER += "@ round operating FW\n"
"""The MP and the SSW are connected; the token of the MP fills Dallas, through which the SSW has to run."""


def test_on_the_site_companies_connected_together_all_run() -> None:
    assert can_do_connection_run(game_of(run_scenario(TOGETHER + "= turn Cid MP", options=WARS)), "SSW")
    first = TOGETHER + "Cid: destination place\n"
    assert not can_do_connection_run(game_of(run_scenario(first, options=WARS)), "SSW")
    run_scenario(first + "Cid: run best\nCid: withhold\n= turn Bob SSW", options=WARS)
