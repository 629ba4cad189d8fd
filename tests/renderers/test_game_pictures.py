"""Charts and the animation of whole games."""

from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops

import engine
from bot.cli.export import history_of_file
from bot.cli.render import render_files, stored_game
from bot.pictures.draw import NothingToDraw, animation_of_game, chart_of_game
from engine.game_text.history import round_statistics
from renderers import CHART_KINDS, PALETTES, ChartKind
from renderers.canvas import Page, text_width
from renderers.charts import chart
from renderers.map.animation import CAPTION_HEIGHT, MAX_BYTES, Animator, Moment
from renderers.views import chart_view
from tests.game_text.histories import replayed
from tests.renderers.test_legibility import GAMES, ROOT

GAME = ROOT / GAMES[0]
Game = tuple[engine.State, tuple[bytes, ...]]


@pytest.fixture(scope="module")
def game() -> Game:
    return stored_game(history_of_file(GAME))


def test_a_chart_has_the_dollars_of_each_round() -> None:
    report = replayed(GAME)
    assert report.history and report.state
    statistics = round_statistics(report.history.start, (line.events for line in report.history.lines))
    worth = chart_view("1830", statistics, "worth")
    assert {series.name: series.last for series in worth.series} == {
        report.state.name(seat): dollars for seat, dollars in engine.standings(report.state).items()
    }
    assert len(worth.rounds) == len(statistics) - 1 and worth.rounds[1] == "SR 1"
    prices = chart_view("1830", statistics, "prices")
    for series in prices.series:
        company = report.state.companies[series.name]
        assert series.last == engine.game_of(report.state).price(series.name) or company.cell is None
    revenue = chart_view("1830", statistics, "revenue")
    assert all(name.startswith("OR ") for name in revenue.rounds)
    richest = max(worth.series, key=lambda series: series.last or 0)
    assert worth.alt.startswith(f"1830 · worth by round, {len(worth.rounds)} rounds. {richest.name} ")


@pytest.mark.parametrize("kind", CHART_KINDS)
@pytest.mark.parametrize("palette", PALETTES)
def test_charts_are_small_pictures(game: Game, kind: str, palette: str) -> None:
    picture = chart_of_game(*game, kind, palette=palette)  # type: ignore[arg-type]
    assert (picture.width, picture.height) == chart.SIZE and len(picture.png) < 150_000
    assert Image.open(BytesIO(picture.png)).size == chart.SIZE


@pytest.mark.parametrize("kind", ["worth", "revenue"])
def test_a_chart_of_a_game_that_has_just_begun_is_not_drawn(kind: ChartKind) -> None:
    with pytest.raises(NothingToDraw):
        chart_of_game(engine.new_game("1830", ["Ann", "Bob"]).state, (), kind)


def test_names_at_the_ends_of_lines_do_not_overlap() -> None:
    moved = chart.spread([100, 100, 101, 900, 990], 40, 90, 970)
    assert all(b - a >= 40 for a, b in pairwise(moved)) and moved[0] >= 90 and moved[-1] <= 970


def test_marks_of_neighbouring_rounds_do_not_cover_each_other(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, events = game
    statistics = round_statistics(start, map(engine.decode_events, events))
    marks = tuple((9 + at // 2, str(at)) for at in range(1, 6))
    view = replace(chart_view("1830", statistics, "worth"), marks=marks)
    written: dict[str, float] = {}
    write = Page.write

    def keep(page: Page, at: tuple[float, float], text: str, *rest: Any, **details: Any) -> None:
        written[text] = at[0]
        write(page, at, text, *rest, **details)

    monkeypatch.setattr(Page, "write", keep)
    chart.draw_chart(view)
    places = [written[text] for _, text in marks]
    assert all(b - a > text_width("1", chart.FONT_SIZE) for a, b in pairwise(places))


def test_the_last_frame_of_the_animation_is_the_last_map(
    game: Game,
) -> None:
    start, events = game
    animation = animation_of_game(start, events)
    assert len(animation.png) < MAX_BYTES
    gif = Image.open(BytesIO(animation.png))
    assert gif.format == "GIF" and gif.is_animated and gif.size == (animation.width, animation.height)  # type: ignore[attr-defined]
    state = engine.copy_state(start)
    for raw in events:
        engine.fold(engine.decode_events(raw), state)
    frames: int = gif.n_frames  # type: ignore[attr-defined]
    gif.seek(frames - 1)
    fresh = Animator(Moment("", state)).page.convert("RGB")
    box = (0, 0, animation.width, animation.height - CAPTION_HEIGHT)

    def different(frame: Image.Image) -> float:
        """The share of pixels that are not those of the last map; hexes share the pixels of their edges."""
        gray = ImageChops.difference(frame.convert("RGB").crop(box), fresh.crop(box)).convert("L")
        return gray.point(lambda v: 255 if v > 20 else 0).histogram()[255] / (box[2] * box[3])

    assert different(gif) < 0.01
    gif.seek(0)
    assert different(gif) > 0.2
    assert f"{frames} frames" in animation.alt


def test_only_changed_hexes_are_in_later_frames(game: Game) -> None:
    animation = animation_of_game(*game)
    frames = int(animation.alt.split(" frames")[0].rsplit(" ", 1)[1])
    assert frames > 50 and len(animation.png) / frames < 8_000
    assert animation_of_game(*game) == animation


def test_a_game_that_has_just_begun_is_one_frame() -> None:
    start = engine.new_game("1830", ["Ann", "Bob"]).state
    assert "1 frames, 0 changes" in animation_of_game(start, ()).alt


def test_render_writes_charts_and_the_animation(tmp_path: Path) -> None:
    paths = {kind: tmp_path / f"{kind}.out" for kind in (*CHART_KINDS, "animation", "sheet", "auction")}
    assert list(render_files(str(GAME), None, paths, "dark")) == list(paths.values())
    formats = {kind: Image.open(path).format for kind, path in paths.items()}
    assert formats == {kind: "GIF" if kind == "animation" else "PNG" for kind in paths}
    with pytest.raises(ValueError, match="is not among them"):
        list(render_files(str(GAME), 100_000, {"map": tmp_path / "map.png"}))
