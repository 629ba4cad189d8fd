"""Reads printed components from their files."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec

from engine.core.components.coordinates import neighbors_of
from engine.core.components.definitions import Components, Face, HexDefinition
from engine.core.components.faults import faults_of, refuse_faults


@cache
def tile_faces() -> dict[str, Face]:
    """Every tile of every title, by its number."""
    raw = (files("engine") / "titles" / "tiles.json").read_bytes()
    return msgspec.json.decode(raw, type=dict[str, Face])


def read_components(path: Traversable) -> Components:
    """The components in a JSON file, with the neighbours of each hex.

    Raises ValueError, with one sentence for each fault, for components that no game can be played with.
    """
    raw = path.read_bytes()
    try:
        components = msgspec.json.decode(raw, type=Components)
    except msgspec.DecodeError as error:
        raise ValueError(f"{path} cannot be read: {error}{_unreadable_hex(raw, error)}.") from error
    refuse_faults(str(path), faults_of(components, tile_faces()))
    replace = msgspec.structs.replace
    beside = neighbors_of(components.map)
    hexes = {hex: replace(here, neighbors=beside[hex]) for hex, here in components.map.hexes.items()}
    return replace(components, map=replace(components.map, hexes=hexes))


def _unreadable_hex(raw: bytes, error: msgspec.DecodeError) -> str:
    """`, in hex C5` where the error is in a hex, whose name it does not say; else empty."""
    if "$.map.hexes" not in str(error):
        return ""
    for name, printed in msgspec.json.decode(raw)["map"]["hexes"].items():
        try:
            msgspec.convert(printed, type=HexDefinition)
        except msgspec.ValidationError:
            return f", in hex {name}"
    return ""


@cache
def components_of(title: str) -> Components:
    """The components of the title with that name (`1830`).

    Raises FileNotFoundError when there is no such title.
    """
    return read_components(files("engine") / "titles" / f"t{title}" / "components.json")
