"""A model of 18xx.games that knows nothing of our engine: what one of its files may hold, in which order.

It follows the file only, by the site's own description of its format: ids ascend; in an operating turn a
company acts in the order of its steps; a train, a tile and a token are where the file has put them before;
in 1870 every turn begins and ends with a record of the connections that are due. Shares are counted by player
and company, since presidents change certificates silently; in 1817, where companies change their size, only
the numbers of certificates are looked at. Of dollars only prices and revenues are checked; the balances of
1830 and 1870 are those of `site_money.py`, the operating turns of 1817 those of `site_turns_1817.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

Action = dict[str, Any]

STEPS = {
    "1830": ("lay_tile", "place_token", "run_routes", "dividend", "buy_train", "buy_company"),
    "1870": ("lay_tile", "place_token", "run_routes", "dividend", "buy_train", "buy_company"),
    "1817": ("lay_tile", "place_token", "run_routes", "dividend", "buy_train"),
}
"""The steps of a company's turn. In 1817 loans are taken at any time and repaid at the end."""
ANY_TIME = {"1830": ("buy_company",), "1870": ("buy_company",), "1817": ()}
"""Actions of a company that do not wait for their step: a private may be bought earlier in the turn."""
TRAINS = {
    "1830": {"2": 6, "3": 5, "4": 4, "5": 3, "6": 2},
    "1870": {"2": 7, "3": 6, "4": 5, "5": 4, "6": 3, "8": 3, "10": 2},
    "1817": {"2": 40, "2+": 4, "3": 12, "4": 8, "5": 5, "6": 4, "7": 3},
}
"""How many trains of a type there are; others are unlimited."""
GRANTED = {"PRR": 10, "NYC": 10, "B&O": 20, "MKT": 10, "SLSF": 20}
"""Percent of a company that somebody may get with a private, or for it."""
TURN_ACTIONS = frozenset({"lay_tile", "place_token", "run_routes", "dividend", "buy_train", "buy_company"})


def faults(file: dict[str, Any]) -> Iterator[str]:
    """What the site would not have written; nothing for a good file."""
    actions: list[Action] = file["actions"]
    title: str = file["title"]
    if [a["id"] for a in actions] != list(range(1, len(actions) + 1)):
        yield "the ids do not ascend by one"
    players = {player["id"] for player in file["players"]}
    for action in actions:
        if action["entity_type"] == "player" and action["entity"] not in players:
            yield f"{action['id']}: {action['entity']} is no player"
    extra = "optional_6_train" in file["settings"]["optional_rules"]
    counts = TRAINS[title] | ({"6": 3} if extra and title == "1830" else {})
    yield from _train_faults(actions, counts, follows_owners=title != "1817")
    yield from _tile_faults(actions)
    yield from _order_faults(title, actions)
    yield from _price_faults(actions)
    yield from _share_faults(actions, counts_percent=title != "1817")
    if title == "1870":
        yield from _connection_faults(actions)


def _train_faults(
    actions: Sequence[Action], counts: dict[str, int], *, follows_owners: bool
) -> Iterator[str]:
    """A train is bought from where it is, runs for its owner, and is discarded by its owner.

    `follows_owners`: all changes of owner are in the file. In 1817 a company may be taken over silently.
    """
    owners: dict[str, str | None] = {}
    for action in actions:
        at, company = action["id"], action["entity"]
        match action["type"]:
            case "buy_train":
                train = action["train"]
                kind, _, number = train.rpartition("-")
                if int(number) >= counts.get(kind, 1000):
                    yield f"{at}: there is no train {train}"
                if follows_owners and owners.get(train) == company:
                    yield f"{at}: the {company} buys its own train {train}"
                if train not in owners and action["price"] <= 1:
                    yield f"{at}: the bank sells {train} for ${action['price']}"
                owners[train] = company
                if traded := action.get("exchange"):
                    if owners.get(traded) != company:
                        yield f"{at}: the {company} trades in {traded}, which it does not own"
                    owners[traded] = None
            case "run_routes":
                run = [route["train"] for route in action["routes"]]
                if len(set(run)) < len(run):
                    yield f"{at}: a train runs twice"
                for train in run:
                    if follows_owners and owners.get(train) != company:
                        yield f"{at}: the {company} runs {train} of {owners.get(train)}"
            case "discard_train":
                if follows_owners and owners.get(action["train"]) != company:
                    yield f"{at}: the {company} discards {action['train']} of {owners.get(action['train'])}"
                owners[action["train"]] = None


def _tile_faults(actions: Sequence[Action]) -> Iterator[str]:
    """A tile lies on one hex at a time."""
    laid: dict[str, str] = {}
    for action in actions:
        if action["type"] == "lay_tile":
            hex, tile = action["hex"], action["tile"]
            if tile in laid.values():
                yield f"{action['id']}: {tile} is laid twice"
            laid[hex] = tile
            if action["rotation"] not in range(6):
                yield f"{action['id']}: rotation {action['rotation']}"


def _price_faults(actions: Sequence[Action]) -> Iterator[str]:
    """Prices and revenues are whole dollars, none below zero, and what is bought has a price."""
    for action in actions:
        at, kind = action["id"], action["type"]
        price = action.get("price")
        if price is not None and (
            not isinstance(price, int) or price < (kind in ("buy_train", "buy_company"))
        ):
            yield f"{at}: {kind} for {price!r}"
        revenues = [route.get("revenue", 0) for route in action.get("routes", ())]
        if any(not isinstance(each, int) or each < 0 or each % 5 for each in revenues):
            yield f"{at}: revenues of {revenues}"


def _share_faults(actions: Sequence[Action], *, counts_percent: bool) -> Iterator[str]:
    """Shares are named once in an action, are of one company, and nobody sells what they do not have.

    `counts_percent`: percent are counted by player. Then no player has more than a company has, nor less than
    nothing, but for what came with a private.
    """
    held = Counter[tuple[str, str]]()
    for action in actions:
        at, entity = action["id"], str(action["entity"])
        if action["type"] == "par":
            held[entity, action["corporation"]] += 20
        if action["type"] not in ("buy_shares", "sell_shares"):
            continue
        shares = action["shares"]
        companies = {share.rpartition("_")[0] for share in shares}
        if len(set(shares)) < len(shares) or len(companies) != 1:
            yield f"{at}: {action['type']} of {shares}"
            continue
        if not counts_percent or action["entity_type"] != "player":
            continue
        [company] = companies
        held[entity, company] += action["percent"] * (1 if action["type"] == "buy_shares" else -1)
        if not -GRANTED.get(company, 0) <= held[entity, company] <= 100:
            yield f"{at}: {entity} has {held[entity, company]} % of the {company}"


def _order_faults(title: str, actions: Sequence[Action]) -> Iterator[str]:
    """A company does not go back to an earlier step before another company has had its turn."""
    company, step, passes = None, -1, Counter[str]()
    for action in actions:
        if action["entity_type"] != "corporation" or action["type"] not in TURN_ACTIONS:
            if action["entity_type"] == "player" and action["type"] not in ("sell_shares", "buy_shares"):
                company = None
            continue
        if action["entity"] != company:
            company, step = action["entity"], -1
            passes.clear()
        kind = action["type"]
        now = STEPS[title].index(kind) if kind in STEPS[title] else -1
        if kind in ANY_TIME[title]:
            continue
        if now < step and kind != "lay_tile" and kind != "run_routes":
            yield f"{action['id']}: {kind} of the {company} after {STEPS[title][step]}"
        if kind == "dividend" and step != STEPS[title].index("run_routes"):
            yield f"{action['id']}: a dividend of the {company} without a run"
        step = now if kind in ("lay_tile", "run_routes") else max(step, now)


def _connection_faults(actions: Sequence[Action]) -> Iterator[str]:
    """Records of connections come in pairs: at the beginning of a turn, and at its end, of one company.

    There is no record at the end of a turn in which the company has closed: it has no later one either.
    """
    records = [
        (action["id"], record["entity"])
        for action in actions
        for record in action.get("auto_actions", ())
        if record["type"] == "destination_connection"
    ]
    begun: str | None = None
    for at, (action_id, company) in enumerate(records):
        if begun is None:
            begun = company
        elif company == begun:
            begun = None
        else:
            if any(other == begun for _, other in records[at:]):
                yield f"{action_id}: the turn of the {begun} ends with a record of the {company}"
            begun = company
