"""A review as one HTML page that needs nothing else: pictures are inside it, and its few lines of script."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape

import engine
from bot.features.review import texts
from bot.features.review.review import Review
from bot.features.review.second_opinion import Opinion
from bot.pictures.views import changed_hexes, repriced_companies
from bot.position.text_views import join_words
from engine.core.events import RoundStarted, fold
from renderers import Picture, map_png, market_png, sheet_png, short_round
from renderers.files import to_webp

STYLE = """
:root { color-scheme: light; }
body { font: 1rem/1.5 system-ui, sans-serif; color: #15181c; background: #f6f4ee;
  margin: 0 auto; max-width: 60rem; padding: 0 .8rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { margin-top: 2.5rem; font-size: 1.25rem; }
img { display: block; width: 100%; height: auto; margin: .6rem 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .15rem .6rem .15rem 0; text-align: left; white-space: nowrap; overflow-wrap: normal; }
td.n { text-align: right; } tr:nth-child(even) td { background: #ece8dd; }
ul { padding-left: 1.2rem; } li { margin: .4rem 0; }
code { font-size: .9em; background: #ece8dd; padding: 0 .2em; }
input[type=range] { width: 100%; } figure { margin: 0; } figcaption { font-weight: 600; }
"""

SCRIPT = """
const steps = [...document.querySelectorAll('#growth figure')];
const slider = document.querySelector('#growth input');
const show = () => steps.forEach((step, at) => { step.hidden = at != slider.value; });
slider.hidden = false; slider.max = steps.length - 1; slider.value = steps.length - 1;
slider.addEventListener('input', show); show();
"""


def review_page(review: Review, opinions: Sequence[Opinion]) -> str:
    """The page of a review."""
    state = review.last
    heading = escape(f"{state.title}: {join_words(state.players)}")
    parts = [
        f"<h1>{heading}</h1>",
        _picture(review.picture()),
        "<h2>Where the money came from</h2>",
        _list(review.sentences),
        "<h2>Turning points</h2>",
        *_turning_points(review),
        "<h2>The map and the market as they grew</h2>",
        *_growth(review),
        *(_study(review, opinions) if review.may_study else ()),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{heading}</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(parts)
        + f"\n<script>{SCRIPT}</script></body></html>\n"
    )


def _picture(picture: Picture) -> str:
    """A picture inside the page, as WebP."""
    data = b64encode(to_webp(picture.png, method=1)).decode()
    size = f'width="{picture.width}" height="{picture.height}"'
    return f'<img {size} alt="{escape(picture.alt)}" src="data:image/webp;base64,{data}">'


def _list(sentences: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{_text(each)}</li>' for each in sentences)}</ul>"


def _text(text: str) -> str:
    """A text with lines of the game between backticks."""
    pieces = text.split("`")
    return "".join(f"<code>{escape(p)}</code>" if i % 2 else escape(p) for i, p in enumerate(pieces))


def _turning_points(review: Review) -> Iterator[str]:
    for at, point in enumerate(review.turning_points, 1):
        before, after = review.game.state_after(point.at), review.game.state_after(point.at + 1)
        where = f"{at}. {short_round(point.round)}, `at {point.number}`: "
        yield f'<figure id="turn-{at}"><p>{_text(where + point.sentence)}</p>'
        yield f"{_picture(_moment(point.picture, before, after))}</figure>"
    if not review.turning_points:
        yield f"<p>{texts.no_turns(review)}</p>"


def _moment(kind: str, before: engine.State, after: engine.State) -> Picture:
    """The picture of a position, with what a move has changed."""
    match kind:
        case "map":
            return map_png(after, highlight=changed_hexes(before, after))
        case "market":
            return market_png(after, highlight=repriced_companies(before, after))
        case _:
            return sheet_png(after)


def _growth(review: Review) -> Iterator[str]:
    """The map and the market at each stock round and at the end, one shown at a time."""
    yield '<div id="growth"><input type="range" min="0" value="0" aria-label="Round" hidden>'
    state = engine.copy_state(review.game.start)
    shown = engine.copy_state(state)
    for move in review.game.moves:
        fold(move.events, state)
        if any(isinstance(e, RoundStarted) and e.round.startswith("stock round") for e in move.events):
            if state.tiles != shown.tiles or state.market_order != shown.market_order:
                yield _step(short_round(engine.round_name(state)), shown, state)
            shown = engine.copy_state(state)
    yield _step("the end" if state.game_over else "now", shown, state)
    yield "</div>"


def _step(caption: str, before: engine.State, after: engine.State) -> str:
    pictures = _moment("map", before, after), _moment("market", before, after)
    return f"<figure><figcaption>{escape(caption)}</figcaption>{''.join(map(_picture, pictures))}</figure>"


def _study(review: Review, opinions: Sequence[Opinion]) -> Iterator[str]:
    """Routes, trains and the robot's opinion."""
    yield "<h2>Routes</h2>"
    lines = [*texts.runs_lines(review), *texts.track_lines(review)]
    yield "".join(f"<p>{_text(line.removeprefix('- '))}</p>" for line in lines)
    yield '<h2>Trains</h2><div class="wide"><table><tr>'
    yield "".join(f"<th>{each}</th>" for each in texts.TRAINS_HEAD) + "</tr>"
    for row in texts.train_rows(review):
        cells = (
            f"<td{' class=n' if at in (3, 4, 5, 6) else ''}>{escape(c)}</td>" for at, c in enumerate(row)
        )
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</table></div>"
    yield f"<h2>{escape(texts.ROBOT_NAME)}</h2><p>It is no better than the robot's judgement.</p>"
    yield _list([texts.opinion_line(review.last, opinion) for opinion in opinions])
