"""Each question gets its pictures, with the routes of a run."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from PIL import Image

import engine
from bot.email.pages.turn_pages import inline_images
from bot.hub.queries import RoutesRun
from bot.pictures.views import NamedPicture, lay_map, near, question_pictures, route_label, tried_pictures
from bot.pictures.workers import PictureWorkers, draw_file
from bot.position.sentences import bids_view
from engine.core.state import ExcessTokens
from engine.game_text import replay
from renderers import Picture
from renderers.files import smaller_png
from tests.drawn_here import DrawnHere
from tests.t1817.scenarios import run_scenario
from tests.t1817.test_07_conversions_and_mergers import SMALL, WANTED
from tests.t1830.scenarios import BOUGHT
from tests.t1830.scenarios import run_scenario as opening_of_1830

PREFIX = """title 1830
players Ann, Bob, Cid
---
@ owns Ann PRR 6
@ par PRR 100
@ cash PRR 500
@ trains PRR 2
@ tile H10 57 1
@ tile H14 9 1
"""


def position(*lines: str) -> engine.State:
    report = replay(PREFIX + "\n".join(lines) + "\n")
    assert report.state is not None and report.failure is None, report.failure
    return report.state


async def names(state: engine.State, **details: Any) -> list[str]:
    return [name for name, _ in await question_pictures(DrawnHere(), state, **details)]


async def test_an_auction_and_a_stock_round() -> None:
    start = engine.new_game("1830", ["Ann", "Bob", "Cid"]).state
    assert await names(start) == ["auction"]
    assert await names(position("@ round stock Ann")) == ["sheet", "market"]


async def test_the_market_comes_where_a_price_has_moved_since_the_player_was_asked_last() -> None:
    """The names of privates and the tiles left are no part of a stock turn; `sheet` has them."""
    begun = ("@ cash Bob 500", "@ cash Cid 500", "@ round stock Ann")
    before, passed = position(*begun), position(*begun, "Ann: pass")
    sold = position(*begun, "Ann: sell 1 PRR", "Ann: pass")
    assert await names(passed, before=before) == ["sheet"]
    assert await names(sold, before=before) == ["sheet", "market"]
    pictures = DrawnHere()
    await question_pictures(pictures, before)
    await pictures.sheet(before)
    own, asked = (details["has_footer"] for kind, details in pictures.requests if kind == "sheet")
    assert (own, asked) == (False, True)


async def test_the_track_step_shows_the_map_around_the_reach() -> None:
    state = position("@ round operating PRR")
    pictures = DrawnHere()
    assert [name for name, _ in await question_pictures(pictures, state)] == ["map"]
    crop = pictures.requests[0][1]["crop"]
    assert {"H10", "H12", "H14", "G13"} <= set(crop) and "A9" not in crop


async def test_before_a_run_the_best_routes_are_on_the_map() -> None:
    state = position("@ round operating PRR", "Ann: pass", "Ann: pass")
    pictures = DrawnHere()
    drawn = await question_pictures(pictures, state)
    assert [name for name, _ in drawn] == ["map"]
    best = engine.best_run(state, "PRR")
    assert pictures.requests[0][1]["routes"] == tuple((route_label(run), run.route) for run in best)
    assert f"2-train ${best[0].revenue}: " in drawn[0].picture.alt


async def test_after_a_run_its_routes_are_on_the_map() -> None:
    state = position("@ round operating PRR", "Ann: pass", "Ann: pass", "Ann: run best")
    ran = RoutesRun("PRR", engine.best_run(state, "PRR"))
    pictures = DrawnHere()
    drawn = await question_pictures(pictures, state, ran=ran)
    assert [name for name, _ in drawn] == ["map"]
    assert len(pictures.requests[0][1]["routes"]) == 1
    assert "Route 1: 2-train" in drawn[0].picture.alt


async def test_the_routes_of_a_run_have_the_sums_of_the_position_in_which_it_was_made() -> None:
    ran = RoutesRun("PRR", (engine.TrainRun("2", "H12-H10", 190),))
    pictures = DrawnHere()
    await question_pictures(pictures, position("@ round operating PRR"), ran=ran)
    assert [label for label, _ in pictures.requests[0][1]["routes"]] == ["2-train $190: H12-H10"]


async def test_the_best_run_is_the_same_picture_before_and_after() -> None:
    """So a card keeps the file that it has."""
    before = position("@ round operating PRR", "Ann: pass", "Ann: pass")
    after = position("@ round operating PRR", "Ann: pass", "Ann: pass", "Ann: run best")
    ran = RoutesRun("PRR", engine.best_run(before, "PRR"))
    (first,) = await question_pictures(DrawnHere(), before)
    (second,) = await question_pictures(DrawnHere(), after, ran=ran)
    trains = position("@ round operating PRR", "Ann: pass", "Ann: pass", "Ann: run best", "Ann: pay")
    (third,) = await question_pictures(DrawnHere(), trains, ran=ran)
    assert first.picture.png == second.picture.png == third.picture.png
    assert await names(trains) == ["sheet"], "a company that has not run"


async def test_the_run_of_another_company_does_not_hide_the_own_reach() -> None:
    ran = RoutesRun("NYC", (engine.TrainRun("2", "H12-H10", 190),))
    pictures = DrawnHere()
    await question_pictures(pictures, position("@ round operating PRR"), ran=ran)
    assert pictures.requests[0][1]["routes"] == () and "H14" in pictures.requests[0][1]["crop"]


async def test_a_plan_shows_the_map_around_the_company_with_the_run_that_it_makes() -> None:
    before = position("@ round operating PRR")
    run = engine.TrainsRan("PRR", (("2", "H12-H10"),), 40)
    for lines, is_run in (
        (("Ann: lay 57 H16 1", "Ann: pass", "Ann: run best"), run),
        (("Ann: lay 57 H16 1",), None),
    ):
        pictures = DrawnHere()
        drawn = await tried_pictures(pictures, position("@ round operating PRR", *lines), before, is_run)
        assert [name for name, _ in drawn] == ["map"]
        details = pictures.requests[0][1]
        assert len(details["routes"]) == (is_run is not None)
        assert details["highlight"] == ("H16",) and "A9" not in details["crop"]
    trains = position("@ round operating PRR", "Ann: pass", "Ann: pass", "Ann: run best", "Ann: pay")
    assert [name for name, _ in await tried_pictures(DrawnHere(), trains, before, None)] == ["map"]
    stock = position("@ round stock Ann")
    assert [name for name, _ in await tried_pictures(DrawnHere(), stock, stock, None)] == ["sheet"]


async def test_a_closer_look_at_a_lay_is_at_the_map_around_the_company() -> None:
    state = position("@ round operating PRR", "Ann: lay 57 H16 1")
    pictures = DrawnHere()
    await lay_map(pictures, state, "H16", "PRR", [("2", "H12-H10")])
    details = pictures.requests[0][1]
    assert details["highlight"] == ("H16",) and [label for label, _ in details["routes"]] == [
        "2-train $30: H12-H10"
    ]
    assert {"H10", "H12", "H16"} <= set(details["crop"]) and "A9" not in details["crop"]


async def test_tokens_that_have_to_go_are_on_a_map_around_them() -> None:
    state = merger()
    state.stack.append(ExcessTokens("WT", "SR"))
    pictures = DrawnHere()
    assert [name for name, _ in await question_pictures(pictures, state)] == ["map"]
    crop = pictures.requests[0][1]["crop"]
    assert {"F19", "G18"} <= set(crop) and "C8" not in crop


async def test_a_file_of_a_card_may_be_lossless_webp() -> None:
    state = position("@ round stock Ann")
    png, webp = (draw_file("market", state, (), {"file_type": kind}) for kind in ("png", "webp"))
    assert webp.png[8:16] == b"WEBPVP8L" and len(webp.png) < 0.75 * len(smaller_png(png.png))
    with Image.open(BytesIO(png.png)) as one, Image.open(BytesIO(webp.png)) as other:
        assert one.convert("RGB").tobytes() == other.convert("RGB").tobytes()


async def test_a_run_that_the_board_no_longer_has_is_left_out() -> None:
    state = position("@ round operating PRR")
    assert await names(state, ran=RoutesRun("PRR", (engine.TrainRun("2", "F2-F4", 30),))) == ["map"]


def merger() -> engine.State:
    text = """title 1817
players Ann, Bob, Cid
---
@ size WT 2
@ price WT 100
@ owns Ann WT 2
@ token WT F19
@ size SR 2
@ price SR 100
@ owns Ann SR 2
@ token SR G18
@ round merger WT
"""
    report = replay(text)
    assert report.state is not None and report.failure is None, report.failure
    return report.state


async def test_a_merger_shows_the_companies_side_by_side() -> None:
    state = merger()
    assert set(engine.companies_in_question(state)) == {"WT", "SR"}
    ran = RoutesRun("WT", (engine.TrainRun("2", "F19-G18", 190),))
    assert await names(state) == await names(state, ran=ran) == ["companies", "market"]


def test_several_maps_have_names_of_their_own_in_a_mail() -> None:
    dot = Picture(b"", "", 1, 1)
    images = inline_images([NamedPicture("map", dot), NamedPicture("map", dot), NamedPicture("market", dot)])
    assert [image.name for image in images] == ["map", "map-2", "market"]


async def test_pictures_of_a_table_are_in_the_palette_of_their_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    async def remember(*request: Any) -> None:
        asked.append(request[3]["palette"])

    workers = PictureWorkers(1)
    monkeypatch.setattr(workers, "request", remember)
    await workers.for_table(7, "dark").sheet(position("@ round stock Ann"))
    await workers.for_table(7, "light").draw("market", position("@ round stock Ann"))
    assert asked == ["dark", "light"]


async def test_a_change_far_from_the_question_does_not_make_its_map_small() -> None:
    """The map of a run is around its routes."""
    pictures, state = DrawnHere(), position("@ round operating PRR")
    before = engine.copy_state(state)
    state.tiles |= {"H14": ("9", 1), "F22": ("9", 1), "I15": ("57", 0)}
    before.tiles = {"H10": ("57", 1), "H14": ("9", 1)}
    assert near(state, ["H10"], ["F22", "H14", "H12"]) == ("H14", "H12")
    await question_pictures(pictures, state, before)
    crop = next(details["crop"] for kind, details in pictures.requests if kind == "map")
    assert "H10" in crop and "F22" not in crop and "F24" not in crop


async def test_the_start_of_a_company_shows_its_home() -> None:
    """1817 §5.4: the home is wherever the president wants it."""
    pictures = DrawnHere()
    bid = run_scenario(
        "@ phase 3\n@ cash Ann 500\n@ cash Bob 500\n@ round stock Ann\nAnn: start ME F19 100\n"
    )
    assert [name for name, _ in await question_pictures(pictures, bid)] == ["auction", "map"]
    details = pictures.requests[-1][1]
    assert details["highlight"] == ("F19",) and "F19" in details["crop"] and "A20" not in details["crop"]
    assert bids_view(bid).startswith("ME Morristown and Erie Railway: Ann $100 leads")


async def test_a_par_price_shows_the_home_of_its_company() -> None:
    """1830 §8.1: the B&O, whose home is printed in Baltimore."""
    pictures = DrawnHere()
    state = opening_of_1830(BOUGHT + "= turn Cid")
    assert [name for name, _ in await question_pictures(pictures, state)] == ["sheet", "market", "map"]
    assert pictures.requests[-1][1]["highlight"] == ("I15",)


async def test_a_merger_shows_the_tokens_of_its_companies() -> None:
    pictures = DrawnHere()
    poll = run_scenario(f"{SMALL}= phase 3\n")
    assert [name for name, _ in await question_pictures(pictures, poll)] == ["companies", "market"]
    turn = run_scenario(f"{SMALL}{WANTED}")
    assert [name for name, _ in await question_pictures(pictures, turn)] == ["companies", "market", "map"]
    assert set(pictures.requests[-1][1]["highlight"]) == {"F19", "G18"}
