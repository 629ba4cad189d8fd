"""How colours look to the colour-blind, and how far apart two of them look.

The matrices are those of Machado, Oliveira and Fernandes (2009) for the full loss of a cone, in linear RGB.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from renderers.color_math import Color

MATRICES = {
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881),
    ),
    "protanopia": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900),
    ),
}  # fmt: skip
WHITE_POINT = (0.95047, 1.0, 1.08883)
XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))


def _product(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def _linear(color: Color) -> list[float]:
    shares = (channel / 255 for channel in color)
    return [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]


def seen(color: Color, kind: str) -> list[float]:
    """A colour in linear RGB as it is seen with that kind of colour blindness; `none` for none."""
    linear = _linear(color)
    if kind == "none":
        return linear
    return [min(max(channel, 0.0), 1.0) for channel in _product(MATRICES[kind], linear)]


def distance(a: Color, b: Color, kind: str = "none") -> float:
    """How far apart two colours look (CIE 1976, about 2.3 is just noticeable)."""
    return math.dist(_lab(a, kind), _lab(b, kind))


def _lab(color: Color, kind: str) -> tuple[float, float, float]:
    x, y, z = (
        share ** (1 / 3) if share > 0.008856 else 7.787 * share + 16 / 116
        for share in (
            value / white for value, white in zip(_product(XYZ, seen(color, kind)), WHITE_POINT, strict=True)
        )
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)
