"""A review as text, `review turns`, `review routes`, `review trains`, `review robot`, and as one HTML page
that needs nothing else: pictures are inside it, and its few lines of script.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape

import engine
from bot.features.review.review import Review
from bot.features.review.runs import BestRunChange, Run, TrainAccount
from bot.features.review.second_opinion import Opinion
from bot.pictures.views import changed_hexes, repriced_companies
from bot.position.text_views import text_table
from engine.core.events import RoundStarted, TileLaid, TokenPlaced, fold
from engine.core.words import counted, dollars, join_words
from renderers import Picture, map_png, market_png, sheet_png
from renderers.files import to_webp

MOST_RUNS, MOST_CHANGES, MOST_TRAINS = 8, 6, 20
ROBOT_NAME = "The robot's opinion"


def turns_text(review: Review) -> str:
    """The turning points, each with the round and the query that shows the moment."""
    points = review.turning_points
    if not points:
        return no_turns(review)
    lines = []
    for at, point in enumerate(points, 1):
        question = f"at {review.number(point.shown_at)} {point.picture}"
        lines.append(f"{at}. {engine.short_round(point.round)}, `{question}`: {point.sentence}")
    return "\n".join(lines)


def no_turns(review: Review) -> str:
    """The sentence for a game without turning points."""
    return "Nothing has turned the game." if review.may_study else "Nothing has turned the game yet."


def routes_text(review: Review) -> str:
    """Runs below the best, and what tiles and tokens changed."""
    return "\n".join([*runs_lines(review), "", *track_lines(review)])


def runs_lines(review: Review) -> Iterator[str]:
    """How many runs were below the best, and those that missed most."""
    below = [run for run in review.runs if run.revenue < run.best]
    if not review.runs:
        yield "No company has run a train."
        return
    if not below:
        each = "each " if len(review.runs) > 1 else ""
        yield f"{counted(len(review.runs), 'run')}, {each}the best possible."
        return
    missed = dollars(sum(run.best - run.revenue for run in below))
    were = "was below the best; it" if len(below) == 1 else "were below the best; together they"
    yield f"{len(below)} of {counted(len(review.runs), 'run')} {were} missed {missed}."
    for run in sorted(below, key=lambda run: run.revenue - run.best)[:MOST_RUNS]:
        yield f"- {run_line(review, run)}"


def _where(review: Review, at: int) -> str:
    """`OR 3.1, at 214`, for the index of a move."""
    return f"{engine.short_round(review.places[at].round)}, at {review.number(at)}"


def run_line(review: Review, run: Run) -> str:
    """`OR 3.1, at 214: the PRR ran $140; $280 was possible: 4-train A22-B19, ...`."""
    routes = ", ".join(f"{train}-train {route}" for train, route in run.best_routes)
    ran = f"the {run.company} ran {dollars(run.revenue)}; {dollars(run.best)} was possible: {routes}"
    return f"{_where(review, run.at)}: {ran}"


def track_lines(review: Review) -> Iterator[str]:
    """The tiles and tokens after which a best run rose or fell most."""
    for heading, sign in (("Best runs rose most after:", 1), ("Best runs fell most after:", -1)):
        if chosen := largest_changes(review, sign):
            yield heading
            yield from (f"- {track_line(review, changes)}" for changes in chosen)


def largest_changes(review: Review, sign: int) -> list[list[BestRunChange]]:
    """The best runs that rose most by tiles and tokens, for a sign of -1 those that fell, by move."""
    by_move: dict[int, list[BestRunChange]] = {}
    for change in review.changes:
        if change.before and sign * change.dollars > 0 and _is_laid(review, change):
            by_move.setdefault(change.at, []).append(change)
    for changes in by_move.values():
        changes.sort(key=lambda each: -abs(each.dollars))
    return sorted(by_move.values(), key=lambda changes: -abs(changes[0].dollars))[:MOST_CHANGES]


def _is_laid(review: Review, change: BestRunChange) -> bool:
    """Whether a tile or a token changed a best run."""
    events = review.game.lines[change.at].events
    return change.occasion == "track" and any(isinstance(e, TileLaid | TokenPlaced) for e in events)


def track_line(review: Review, changes: Sequence[BestRunChange]) -> str:
    """`OR 3.1, at 214: #63 on H10 by the PRR: the best run of the NYC $120 → $180`, for one move."""
    at = changes[0].at
    move = review.game.lines[at]
    what = move.line
    for event in move.events:
        if isinstance(event, TileLaid):
            what = f"#{event.tile} on {event.hex} by the {event.company}"
        elif isinstance(event, TokenPlaced):
            what = f"the token of the {event.company} in {event.hex}"
    runs = [f"the {each.company} {dollars(each.before)} → {dollars(each.after)}" for each in changes]
    whose = "the best run of" if len(runs) == 1 else "the best runs of"
    return f"{_where(review, at)}: {what}: {whose} {join_words(runs)}"


TRAINS_HEAD = ("train", "bought", "by", "cost", "runs", "earned", "net", "gone")


def train_rows(review: Review, trains: Sequence[TrainAccount] | None = None) -> list[tuple[str, ...]]:
    """Trains as rows of a table under `TRAINS_HEAD`."""
    where = review.places
    return [
        (
            f"{train.train}-train",
            engine.short_round(where[train.bought].round),
            " → ".join(train.owners),
            dollars(train.cost),
            str(train.runs),
            dollars(train.earned),
            dollars(train.net),
            "" if train.gone is None else f"{engine.short_round(where[train.gone].round)} {train.end}",
        )
        for train in (review.trains if trains is None else trains)
    ]


def trains_text(review: Review) -> str:
    """The trains that earned most and least for what they cost."""
    ranked = sorted(review.trains, key=lambda train: -train.net)
    if not ranked:
        return "No company has bought a train."
    half = MOST_TRAINS // 2
    if len(ranked) <= MOST_TRAINS:
        return "\n".join(text_table(TRAINS_HEAD, train_rows(review, ranked)))
    rows = text_table(TRAINS_HEAD, train_rows(review, [*ranked[:half], *ranked[-half:]]))
    return "\n".join([*rows[: half + 1], f"({len(ranked) - MOST_TRAINS} more)", *rows[half + 1 :]])


def robot_text(review: Review, opinions: Sequence[Opinion]) -> str:
    """The robot's opinion, with its reasons."""
    if not opinions:
        return f"{ROBOT_NAME}: it would have made no decision otherwise."
    lines = [f"- {opinion_line(review, opinion)}" for opinion in opinions]
    return "\n".join([f"{ROBOT_NAME}, which is no better than its judgement:", *lines])


def opinion_line(review: Review, opinion: Opinion) -> str:
    """`SR 2, at 45: Ann played `pass`; the robot would have played `buy PRR`, worth $120 more to it. “…”`.

    Of an answer, the offer too: `played `accept` (the SV from Bob to Ann for $30)`.
    """
    offer = f" ({opinion.offer})" if opinion.offer else ""
    played = f"{review.last.name(opinion.seat)} played `{opinion.played}`{offer}"
    advised = f"the robot would have played `{opinion.advised}`, worth {dollars(opinion.dollars)} more to it"
    reason = f"{opinion.reason[:1].upper()}{opinion.reason[1:]}"
    return f"{_where(review, opinion.at)}: {played}; {advised}. “{reason}.”"


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
        where = f"{at}. {engine.short_round(point.round)}, `at {review.number(point.shown_at)}`: "
        yield f'<figure id="turn-{at}"><p>{_text(where + point.sentence)}</p>'
        yield f"{_picture(_moment(point.picture, before, after))}</figure>"
    if not review.turning_points:
        yield f"<p>{no_turns(review)}</p>"


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
    for move in review.game.lines:
        fold(move.events, state)
        if any(isinstance(e, RoundStarted) and e.round.startswith("stock round") for e in move.events):
            if state.tiles != shown.tiles or state.market_order != shown.market_order:
                yield _step(engine.short_round(engine.round_name(state)), shown, state)
            shown = engine.copy_state(state)
    yield _step("the end" if state.game_over else "now", shown, state)
    yield "</div>"


def _step(caption: str, before: engine.State, after: engine.State) -> str:
    pictures = _moment("map", before, after), _moment("market", before, after)
    return f"<figure><figcaption>{escape(caption)}</figcaption>{''.join(map(_picture, pictures))}</figure>"


def _study(review: Review, opinions: Sequence[Opinion]) -> Iterator[str]:
    """Routes, trains and the robot's opinion."""
    yield "<h2>Routes</h2>"
    lines = [*runs_lines(review), *track_lines(review)]
    yield "".join(f"<p>{_text(line.removeprefix('- '))}</p>" for line in lines)
    yield '<h2>Trains</h2><div class="wide"><table><tr>'
    yield "".join(f"<th>{each}</th>" for each in TRAINS_HEAD) + "</tr>"
    for row in train_rows(review):
        cells = (
            f"<td{' class=n' if at in (3, 4, 5, 6) else ''}>{escape(c)}</td>" for at, c in enumerate(row)
        )
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</table></div>"
    yield f"<h2>{escape(ROBOT_NAME)}</h2><p>It is no better than the robot's judgement.</p>"
    yield _list([opinion_line(review, opinion) for opinion in opinions])
