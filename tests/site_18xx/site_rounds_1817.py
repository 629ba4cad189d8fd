"""What differs in the stock rounds and merger rounds of a file of 1817 from the models of their money."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from tests.site_18xx.site_mergers_1817 import MergerRound
from tests.site_18xx.site_position_1817 import Position
from tests.site_18xx.site_stock_1817 import StockRound
from tests.site_18xx.site_turns_1817 import Snapshot

Rounds = Sequence[tuple[int, str]]


def round_faults(
    file: dict[str, Any], rounds: Rounds, snapshots: dict[int, Snapshot], kind: str = ""
) -> Iterator[str | None]:
    """For each action of the rounds what differs after it, or None. A round ends with its first fault.

    `rounds`: (number of actions before it, name) of each; `snapshots`: the position after so many actions.
    `kind`: `stock` or `merger` for only these. A round is not reckoned on after a bankruptcy, nor its
    last action if the next round has none.
    """
    at_once = [begun for begun, _ in rounds]
    squeeze = "short_squeeze" in file["settings"]["optional_rules"]
    for (begun, name), (ended, next_name) in pairwise([*rounds, (len(file["actions"]), "")]):
        if begun not in snapshots or name.startswith("operating") or not name.startswith(kind):
            continue
        bankrupt = {str(a["entity"]) for a in file["actions"][:begun] if a["type"] == "bankrupt"}
        position = Position(snapshots[begun], bankrupt)
        stock = name.startswith("stock")
        model = StockRound(position, squeeze) if stock else MergerRound(position)
        for number in range(begun + 1, ended + 1):
            action, snapshot = file["actions"][number - 1], snapshots.get(number)
            if action["type"] == "bankrupt":
                break
            model.play(action, snapshot)
            if number == ended:
                if at_once.count(ended) > 1:
                    break  # a whole round follows at once
                model.end(next_name)
            faults = [] if snapshot is None or model.unsettled else list(model.position.differences(snapshot))
            yield f"{number} {action['type']}: {'; '.join(faults)}" if faults else None
            if faults:
                break
