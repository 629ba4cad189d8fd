"""The components of a title are checked when they are read: a sentence for each fault."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import pytest

import engine
from engine.core.components import read_components
from tests.example_title.composition import compose

EXAMPLE = Path(__file__).parents[1] / "example_title" / "components.json"

Box = dict[str, Any]


def title_file(title: str) -> Path:
    return EXAMPLE if title == "18EX" else Path(str(files("engine"))) / f"titles/t{title}/components.json"


def faults(tmp_path: Path, change: Callable[[Box], object], title: str = "18EX") -> list[str]:
    """The sentences about the components of a title after one change."""
    box = json.loads(title_file(title).read_text(encoding="utf-8"))
    change(box)
    changed = tmp_path / "components.json"
    changed.write_text(json.dumps(box), encoding="utf-8")
    with pytest.raises(ValueError) as refusal:
        read_components(changed)
    assert str(changed) in str(refusal.value)
    return str(refusal.value).splitlines()[1:]


def put(*path: str | int, to: object) -> Callable[[Box], object]:
    """A change of one entry."""

    def change(box: Box) -> None:
        *way, last = path
        part: Any = box
        for key in way:
            part = part[key]
        part[last] = to

    return change


def hex(name: str, **entries: object) -> Callable[[Box], object]:
    """A change of a hex of the map, or a new white hex."""
    return lambda box: box["map"]["hexes"].setdefault(name, {"color": "white"}).update(entries)


def city(**entries: object) -> list[object]:
    return [{"kind": "city", "slots": 1, **entries}]


def ability(place: int, **entries: object) -> Callable[[Box], object]:
    return lambda box: box["privates"][place]["ability"].update(entries)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (hex("B4", neighbors={"0": "D8"}), "Hex B4 meets C3 at edge 0, not D8."),
        (hex("5E"), "Hex 5E must be named by a letter and a number, as in H10."),
        (
            hex("B5"),
            "Hex B5 lies between hexes: columns and rows from B2 must add up to an even number.",
        ),
        (
            put("map", "axes", to={"x": "letter", "y": "letter"}),
            "The axes of the map must be x and y, one the letter and the other the number of a coordinate.",
        ),
        (hex("C1", paths=[["e1", "n0"]]), "Hex C1 has a path to edge 1, where there is no hex."),
        (
            hex("C1", paths=[["e4", "n2"]]),
            "Hex C1 has a path to n2: an end is e0 to e5, or n0 and so on for one of its nodes.",
        ),
        (hex("B8", nodes=city(revenue={"2": 20, "9": 30})), "Hex B8 (`revenue`) names phase 9, which"),
        (hex("B8", nodes=city(revenue={"3": 30})), "Hex B8 has no revenue for phase 2, with which"),
        (hex("B8", nodes=city(usable_from_phase="9")), "Hex B8 (`usable_from_phase`) names phase 9, which"),
        (hex("B8", nodes=city(slots=-1)), "Hex B8 has a city with fewer than 0 slots."),
        (hex("B8", borders=[{"edge": 6, "kind": "impassable"}]), "Hex B8 has an edge 6; edges are 0 to 5."),
        (hex("B8", river={"west": [7], "east": []}), "Hex B8 has an edge 7; edges are 0 to 5."),
        (hex("B8", reserved=["TAN"]), "Hex B8 (`reserved`) names company TAN, which"),
        (hex("B8", reserved=["RED"]), "Hex B8 is reserved for the RED, whose home is not there."),
        (hex("B8", blocked_by="OLD"), "Hex B8 (`blocked_by`) names private company OLD, which"),
        (
            hex("B8", label="Q"),
            "Hex B8 is printed as city_Q, for which `preprinted_upgrades` names no tiles.",
        ),
        (put("single_city_hexes", to=["Z9"]), "`single_city_hexes` names hex Z9, which is not on the map."),
        (put("tiles", "999", to=1), "Tile 999 does not exist: `engine/titles/tiles.json` has no such tile."),
        (put("tiles", "57", to=0), "There must be 1 or more of tile 57, or null for no limit."),
        (put("upgrades", "57", to=["999"]), "The upgrades of tile 57 names tile 999, which"),
        (put("upgrades", "999", to=["57"]), "`upgrades` names tile 999, which"),
        (
            put("upgrades", "57", to=["8"]),
            "Tile 57 cannot be upgraded to tile 8: tile 57 is yellow, and tile 8 is yellow.",
        ),
        (
            put("preprinted_upgrades", "city", to=["999"]),
            "The tiles for city (`preprinted_upgrades`) names tile 999, which",
        ),
        (put("preprinted_upgrades", "cities", to=["57"]), "`preprinted_upgrades` names cities, but the map"),
        (put("tile_hexes", to={"57": ["Z9"]}), "`tile_hexes` of tile 57 names hex Z9, which is not"),
        (put("tile_not_hexes", to={"999": []}), "`tile_not_hexes` names tile 999, which"),
        (put("trains", 0, "rusts_on", to="9"), "The 2-train has `rusts_on` 9, but there is no 9-train."),
        (
            put("trains", 0, "obsolete_on", to="9"),
            "The 2-train has `obsolete_on` 9, but there is no 9-train.",
        ),
        (
            put("trains", 1, "rusts_on", to="2"),
            "The 3-train has `rusts_on` 2, a train that is not sold after",
        ),
        (put("trains", 1, "name", to="2"), "There is more than one train 2."),
        (put("trains", 1, "discounts", to={"9": 1}), "The 3-train (`discounts`) names train 9, which"),
        (put("trains", 1, "available_on", to="9"), "The 3-train (`available_on`) names train 9, which"),
        (put("trains", 1, "available_on", to="3"), "The 3-train is for sale only once it has been bought"),
        (put("trains", 1, "distance", to=0), "The 3-train must have a count and a distance of 1 or more"),
        (put("own_station_bonus", to={"9": 10}), "`own_station_bonus` names train 9, which"),
        (put("phases", 1, "on", to="9"), "Phase 3 begins with a 9-train, which this title does not have."),
        (put("phases", 1, "on", to="4"), "Phase 4 begins with a 4-train, which the phase before it has"),
        (put("phases", 0, "on", to="2"), "The first phase must begin with the game: its `on` is null."),
        (put("phases", 1, "name", to="2"), "There is more than one phase 2."),
        (put("phases", 0, "operating_rounds", to=0), "Phase 2 must have a train limit and operating rounds"),
        (put("phases", 0, "ipo_sizes", to=[5]), "Phase 2 starts companies of 5 shares; `company_sizes` has"),
        (
            put("par_prices", to=[80, 90, 95, 100]),
            "The par price $95 has no space of the market with the zone",
        ),
        (
            put("par_prices", to=[80, 90]),
            "The market has a `par` space of $100, which `par_prices` leaves out.",
        ),
        (
            put("market", "rows", 0, 3, "arrow", to="up"),
            "The $90 space in row 1, column 4 of the market has an arrow up, where there is no space.",
        ),
        (put("market", "type", to="1d"), "A market of type 1d has one row; this one has 4."),
        (put("players", to={"min": 3}), "`players` must give a `min` and a `max`"),
        (put("players", "max", to=5), "`starting_cash` has no entry for 5 players."),
        (put("cert_limit", to={"2": 16, "3": 12}), "`cert_limit` has no entry for 4 players."),
        (put("cert_limits", to={3: {"2": 16, "3": 12}}), "`cert_limits` for 3 companies has no entry for 4"),
        (put("companies", 0, "home", "hex", to="Z9"), "The RED has its home in Z9, which is not on the map."),
        (put("companies", 0, "home", "hex", to="B4"), "The RED has its home in B4, which has no city."),
        (put("companies", 0, "home", "city", to=1), "The RED has its home in B2, which has no city 1."),
        (
            put("preprinted_upgrades", "city", to=["57"]),
            "The RED has its home in B2, where no first tile fits (57): each leads off the map.",
        ),
        (put("companies", 0, "tokens", to=[]), "The RED has a home in B2 but no token"),
        (put("companies", 0, "destination", to="Z9"), "The RED has its destination in Z9, which is not on"),
        (put("companies", 0, "shares", to=[20, 10]), "The shares of the RED make 30 %, not 100 %."),
        (
            put("companies", 0, "color", to="redd"),
            "The RED has the color redd, which must be written",
        ),
        (put("companies", 0, "float_percent", to=101), "The RED floats at 101 %, which must be 0 to 100 %."),
        (put("companies", 0, "sym", to="BLU"), "There is more than one company BLU."),
    ],
)
def test_a_fault_of_the_example_has_a_sentence(
    tmp_path: Path, change: Callable[[Box], object], sentence: str
) -> None:
    assert any(fault.startswith(sentence) for fault in faults(tmp_path, change))


@pytest.mark.parametrize(
    ("title", "change", "sentence"),
    [
        ("1830", put("privates", 0, "blocks", to=["Z9"]), "The SV names hex Z9, which is not on the map."),
        ("1830", put("privates", 0, "sym", to="CS"), "There is more than one private company CS."),
        ("1830", ability(1, hexes=["Z9"]), "The CS names hex Z9, which is not on the map."),
        ("1830", ability(1, tiles=["999"]), "The CS names tile 999, which this title does not have."),
        (
            "1830",
            ability(3, company="TAN"),
            "The MH is exchanged for a share of the TAN, which is no company",
        ),
        ("1830", ability(3, percent=15), "The MH is exchanged for 15 %, a share that the NYC lacks."),
        ("1830", put("privates", 4, "grants", "company", to="TAN"), "The CA comes with a share of the TAN"),
        ("1830", put("privates", 4, "grants", "percent", to=15), "The CA comes with a share of 15 %, which"),
        (
            "1830",
            put("privates", 5, "grants", "percent", to=10),
            "The BO comes with a president's certificate of 10 %, which the B&O has not.",
        ),
        (
            "1830",
            put("privates", 5, "closes_with_first_train_of", to="TAN"),
            "The BO names company TAN, which",
        ),
        ("1870", put("privates", 1, "early_sale", "buyers", to=["TAN"]), "The MRBC names company TAN, which"),
        ("1870", ability(2, removed_on="9"), "The SCC names train 9, which this title does not have."),
        ("1851", put("privates", 3, "used_with_players", to=[9]), "The O&W is in play with 9 players, with"),
        (
            "1817",
            put("company_sizes", "5", "stations_to_buy", to=3),
            "A company of 5 shares has to buy 3 of 2",
        ),
        ("1817", put("ipo_bid", "max", to=90), "A bid runs from $100 to $90 by $5, which leaves nothing"),
        ("1817", put("ipo_bid", "min", to=90), "A bid of $90 buys half a company, and no par price is $45"),
        ("1817", put("loans", "step", to=0), "Loans must have a count, a value and a step of 1 or more."),
    ],
)
def test_a_fault_of_a_title_has_a_sentence(
    tmp_path: Path, title: str, change: Callable[[Box], object], sentence: str
) -> None:
    assert any(fault.startswith(sentence) for fault in faults(tmp_path, change, title))


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    def change(box: Box) -> None:
        put("trains", 0, "rusts_on", to="9")(box)
        put("companies", 0, "home", "hex", to="Z9")(box)

    assert len(faults(tmp_path, change)) == 3  # B2 is still reserved for the RED


def test_a_file_that_is_no_box_is_named(tmp_path: Path) -> None:
    file = tmp_path / "components.json"
    file.write_text('{"title": "18EX", "colour": "red"}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"components\.json cannot be read: Object contains unknown field"):
        read_components(file)


def test_a_hex_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    box = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    box["map"]["hexes"]["C5"]["color"] = 7
    file = tmp_path / "components.json"
    file.write_text(json.dumps(box), encoding="utf-8")
    with pytest.raises(ValueError, match=r"Expected `str`, got `int`.*, in hex C5\.$"):
        read_components(file)


def test_neighbours_follow_from_layout_and_axes(tmp_path: Path) -> None:
    """On a flat map edge 0 is below: B4 lies below B2 where letters are columns."""
    box = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    box["map"] |= {"layout": "flat", "axes": {"x": "letter", "y": "number"}}
    box["map"]["hexes"] |= {
        "C1": box["map"]["hexes"]["C1"] | {"paths": [["e0", "n0"]]},
        "C9": box["map"]["hexes"]["C9"] | {"paths": [["e3", "n0"]]},
    }
    file = tmp_path / "components.json"
    file.write_text(json.dumps(box), encoding="utf-8")
    hexes = read_components(file).map.hexes
    assert hexes["C5"].neighbors == {0: "C7", 1: "B6", 2: "B4", 3: "C3", 4: "D4", 5: "D6"}
    assert hexes["B2"].neighbors == {0: "B4", 4: "C1", 5: "C3"}


def test_components_that_options_change_are_checked() -> None:
    title = compose(())
    company = msgspec.structs.replace(title.components.companies[0], destination="Z9")
    changed = msgspec.structs.replace(title.components, companies=(company, *title.components.companies[1:]))
    with pytest.raises(ValueError, match="The RED has its destination in Z9, which is not on the map"):
        dataclasses.replace(title, components=changed)
    with pytest.raises(ValueError, match="`train_counts` names train 9, which this title does not have"):
        dataclasses.replace(title, train_counts={"9": 1})


@pytest.mark.parametrize("title", engine.title_names())
def test_the_titles_leave_neighbours_out(title: str) -> None:
    assert '"neighbors"' not in title_file(title).read_text(encoding="utf-8")
