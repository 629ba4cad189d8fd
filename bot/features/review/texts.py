"""The parts of a review as text: `review turns`, `review routes`, `review trains`, `review robot`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import engine
from bot.features.review.review import Review
from bot.features.review.runs import BestRunChange, Run, TrainAccount
from bot.features.review.second_opinion import Opinion
from bot.position.sentences import dollars
from bot.position.text_views import join_words, text_table
from engine.core.events import TileLaid, TokenPlaced
from renderers import short_round

MOST_RUNS, MOST_CHANGES, MOST_TRAINS = 8, 6, 20
ROBOT_NAME = "The robot's opinion"


def turns_text(review: Review) -> str:
    """The turning points, each with the round and the query that shows the moment."""
    points = review.turning_points
    if not points:
        return no_turns(review)
    return "\n".join(
        f"{at}. {short_round(point.round)}, `at {point.number} {point.picture}`: {point.sentence}"
        for at, point in enumerate(points, 1)
    )


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
        yield f"Each of the {len(review.runs)} runs was the best possible."
        return
    missed = dollars(sum(run.best - run.revenue for run in below))
    were = "was below the best; it" if len(below) == 1 else "were below the best; together they"
    yield f"{len(below)} of {len(review.runs)} runs {were} missed {missed}."
    for run in largest_misses(below):
        yield f"- {run_line(review, run)}"


def largest_misses(below: Sequence[Run]) -> list[Run]:
    """The runs that missed most, the largest first."""
    return sorted(below, key=lambda run: run.revenue - run.best)[:MOST_RUNS]


def run_line(review: Review, run: Run) -> str:
    """`OR 3.1, at 214: the PRR ran $140; $280 was possible: 4-train A22-B19, ...`."""
    move, where = review.game.moves[run.at], review.places[run.at]
    routes = ", ".join(f"{train}-train {route}" for train, route in run.best_routes)
    ran = f"the {run.company} ran {dollars(run.revenue)}; {dollars(run.best)} was possible: {routes}"
    return f"{short_round(where.round)}, at {move.number}: {ran}"


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
    events = review.game.moves[change.at].events
    return change.occasion == "track" and any(isinstance(e, TileLaid | TokenPlaced) for e in events)


def track_line(review: Review, changes: Sequence[BestRunChange]) -> str:
    """`OR 3.1, at 214: #63 on H10 by the PRR: the best run of the NYC $120 → $180`, for one move."""
    move, where = review.game.moves[changes[0].at], review.places[changes[0].at]
    what = move.line
    for event in move.events:
        if isinstance(event, TileLaid):
            what = f"#{event.tile} on {event.hex} by the {event.company}"
        elif isinstance(event, TokenPlaced):
            what = f"the token of the {event.company} in {event.hex}"
    runs = [f"the {each.company} {dollars(each.before)} → {dollars(each.after)}" for each in changes]
    whose = "the best run of" if len(runs) == 1 else "the best runs of"
    return f"{short_round(where.round)}, at {move.number}: {what}: {whose} {join_words(runs)}"


TRAINS_HEAD = ("train", "bought", "by", "cost", "runs", "earned", "net", "gone")


def train_rows(review: Review, trains: Sequence[TrainAccount] | None = None) -> list[tuple[str, ...]]:
    """Trains as rows of a table under `TRAINS_HEAD`."""
    where = review.places
    return [
        (
            f"{train.train}-train",
            short_round(where[train.bought].round),
            " → ".join(train.owners),
            dollars(train.cost),
            str(train.runs),
            dollars(train.earned),
            dollars(train.net),
            "" if train.gone is None else f"{short_round(where[train.gone].round)} {train.end}",
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
    lines = [f"- {opinion_line(review.last, opinion)}" for opinion in opinions]
    return "\n".join([f"{ROBOT_NAME}, which is no better than its judgement:", *lines])


def opinion_line(names: engine.State, opinion: Opinion) -> str:
    """`SR 2, at 45: Ann played `pass`; the robot would have played `buy PRR`, worth $120 more to it. “…”`.

    Of an answer, the offer too: `played `accept` (the SV from Bob to Ann for $30)`.
    """
    where = f"{short_round(opinion.round)}, at {opinion.number}"
    offer = f" ({opinion.offer})" if opinion.offer else ""
    played = f"{names.name(opinion.seat)} played `{opinion.played}`{offer}"
    advised = f"the robot would have played `{opinion.advised}`, worth {dollars(opinion.dollars)} more to it"
    return f"{where}: {played}; {advised}. “{opinion.reason[:1].upper()}{opinion.reason[1:]}.”"
