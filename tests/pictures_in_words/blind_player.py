"""A player who sees no picture: before each move they ask in words for what it needs, and read it there."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import msgspec

import engine
from bot.hub.request import Completed, QueryAnswer
from bot.position.sentences import track_phrases
from bot.service import Service

HEX = re.compile(r"\b[A-Z]\d+\b")


@dataclass
class BlindPlayer:
    """Plays lines that are given, at one table, after having found their facts in answers.

    asked: by what was asked, how often; letters: how many characters the answers had. transcript: what was
    asked, answered and played.
    """

    service: Service
    table: int
    asked: Counter[str] = field(default_factory=Counter)
    letters: int = 0
    transcript: list[tuple[str, str, str]] = field(default_factory=list)

    async def ask(self, name: str, seat: int, question: str) -> str:
        """The answer to a question, which is text alone."""
        answer = await self.service.submit(self.table, seat, [question], None, None)
        assert isinstance(answer, QueryAnswer), (question, answer)
        self.asked[question.split(maxsplit=1)[0]] += 1
        self.letters += len(answer.text)
        self.transcript.append((name, question, answer.text))
        return answer.text

    async def play(self, seat: int, line: str) -> None:
        """Find what the line needs in words, then play it. The test fails where words do not say it."""
        view = await self.service.queries.view(self.table)
        assert view.state is not None
        name = view.table.names[seat]
        await self._find(view.state, name, seat, line.split())
        result = await self.service.submit(self.table, seat, [line], view.decision_id_of(seat), None)
        assert isinstance(result, Completed), (line, result)
        told = " ".join(sentence for row in result.played for sentence in row.sentences)
        self.transcript.append((name, line, told))
        if line.startswith("run "):
            await self._listen_to_routes(name, seat)

    async def _find(self, state: engine.State, name: str, seat: int, words: list[str]) -> None:
        company = engine.decision(state).company or ""
        match words:
            case ["lay", tile, hex, *rotation]:
                text = await self.ask(name, seat, f"hex {hex}")
                turns = engine.rotations_on(state, tile, hex)
                if turns:  # a private may lay where no company could
                    (offered,) = re.findall(rf"^It may become #{re.escape(tile)}: (.*)$", text, re.MULTILINE)
                    joined = dict(re.findall(r"rotation (\d) joins ([^;.]+)", offered))
                    assert set(joined) == {str(turn) for turn in turns.values()}, (words, text)
                    for turn, told in joined.items():
                        assert set(HEX.findall(told)) == _joined(state, tile, hex, int(turn)), (words, text)
                assert not rotation or rotation[0].isdecimal()
            case ["token", hex, *_] if company:
                text = await self.ask(name, seat, f"network {company}")
                assert hex.partition(".")[0] in text, (words, text)
            case ["bid", item, _] if engine.topic(state) == "auction":
                assert f"{item} " in await self.ask(name, seat, "words")
            case ["par", company, price]:
                assert f"${price} in row" in await self.ask(name, seat, f"around {price}")
            case ["buy", "train", train, *_]:
                assert train in await self.ask(name, seat, "trains")
            case ["buy" | "sell", *_] if engine.topic(state) == "stock":
                text = await self.ask(name, seat, "words")
                assert f"{name}: ${state.cash[f'p{seat}']:,}, " in text

    async def _listen_to_routes(self, name: str, seat: int) -> None:
        view = await self.service.queries.view(self.table)
        assert view.state is not None
        company = engine.decision(view.state).company or ""
        runs = await self.service.queries.last_runs(self.table)
        for number in range(1, len(runs[company].routes) + 1 if company in runs else 1):
            text = await self.ask(name, seat, f"route {company} {number}")
            assert " to " in text and "has changed" not in text, text


def _joined(state: engine.State, tile: str, hex: str, rotation: int) -> set[str]:
    """The hexes that track leads to from a tile, read where it would lie already."""
    laid = msgspec.structs.replace(state, tiles=state.tiles | {hex: (tile, rotation)})
    return set(HEX.findall(" ".join(track_phrases(laid, hex))))
