"""What differs in the stock rounds of a file of 1817 from the model of their money."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from tests.site_18xx.site_position_1817 import Position
from tests.site_18xx.site_stock_1817 import StockRound
from tests.site_18xx.site_turns_1817 import Snapshot

Rounds = Sequence[tuple[int, str]]


def round_faults(
    file: dict[str, Any], rounds: Rounds, snapshots: dict[int, Snapshot]
) -> Iterator[str | None]:
    """For each action of a stock round what differs after it, or None. A round ends with its first fault.

    `rounds`: (number of actions before it, name) of each; `snapshots`: the position after so many actions.
    """
    squeeze = "short_squeeze" in file["settings"]["optional_rules"]
    for (begun, name), (ended, next_name) in pairwise([*rounds, (len(file["actions"]), "")]):
        if not name.startswith("stock") or begun not in snapshots:
            continue
        bankrupt = {a["entity"] for a in file["actions"][:begun] if a["type"] == "bankrupt"}
        model = StockRound(Position(snapshots[begun], len(bankrupt)), squeeze)
        for number in range(begun + 1, ended + 1):
            action = file["actions"][number - 1]
            snapshot = snapshots.get(number)
            model.play(action, snapshot)
            if number == ended:
                model.end()
                if next_name.startswith("operating"):
                    model.position.begin_operating()
            faults = [] if snapshot is None else list(model.position.differences(snapshot))
            yield f"{number} {action['type']}: {'; '.join(faults)}" if faults else None
            if faults:
                break
