"""The certificate that came with a private is where the numbering of all certificates has it."""

from pathlib import Path

import pytest

from engine.finance.granted_certificates import certificate_place, granted_shares
from tests.site_18xx.recorded_games import recorded_files, replay

FILES = [path for path in recorded_files() if path.parent.name in ("1830", "1870")][::8]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_the_rules_and_the_numbering_agree_after_every_action(path: Path) -> None:
    game = replay(path)
    for _ in game.run():
        for private, grant in granted_shares(game.game).items():
            share = f"{game.names.site_company(grant.company)}_1"
            if not game.state.companies[grant.company].closed:
                assert certificate_place(game.game, private).owner == game.numbering.certificates.owner(share)
