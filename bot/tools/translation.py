"""Prints the English texts of Discord's commands, from which a translation is begun."""

import json
from typing import Any

from bot.discord.client import Client
from bot.discord.commands import english_texts
from bot.pictures.workers import PictureWorkers

if __name__ == "__main__":
    client: Any = Client(None, PictureWorkers())  # type: ignore[arg-type]
    print(json.dumps(dict.fromkeys(english_texts(client.tree), ""), indent=1, ensure_ascii=False))
