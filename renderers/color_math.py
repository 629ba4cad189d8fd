"""Colours as numbers: mixtures, contrast as everybody sees it, the colours of a token."""

from __future__ import annotations

from functools import lru_cache

from PIL import ImageColor

Color = tuple[int, int, int]

MIN_CONTRAST = 4.5
"""The least contrast of text, as WCAG 2 defines it."""


def parse_color(name: str) -> Color:
    """An RGB colour from `#rrggbb`."""
    red, green, blue, *_ = ImageColor.getrgb(name)
    return red, green, blue


def blend(a: Color, b: Color, share: float) -> Color:
    """A mixture of two colours; `share` (0-1) is that of b."""
    red, green, blue = (round(x + (y - x) * share) for x, y in zip(a, b, strict=True))
    return red, green, blue


def lightness(c: Color) -> float:
    """The perceived lightness of a colour, 0-255."""
    return 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2]


LUMINANCE = (0.2126, 0.7152, 0.0722)
"""What red, green and blue give to the luminance of a colour."""
LUMINANCE_WITHOUT_GREEN, LUMINANCE_WITHOUT_RED = (0.278, 0.667, 0.055), (0.114, 0.783, 0.103)
"""The same as the colour-blind see it: deuteranopia and protanopia (Machado et al., 2009)."""


def contrast(a: Color, b: Color, weights: tuple[float, float, float] = LUMINANCE) -> float:
    """The contrast of two colours, 1-21 (WCAG 2, 1.4.3)."""
    low, high = sorted((_luminance(a, weights), _luminance(b, weights)))
    return (high + 0.05) / (low + 0.05)


def least_contrast(a: Color, b: Color) -> float:
    """The contrast of two colours for those who see it least, the colour-blind included."""
    return min(
        contrast(a, b, weights) for weights in (LUMINANCE, LUMINANCE_WITHOUT_GREEN, LUMINANCE_WITHOUT_RED)
    )


@lru_cache(1024)
def _luminance(c: Color, weights: tuple[float, float, float]) -> float:
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in (channel / 255 for channel in c)
    )
    return weights[0] * red + weights[1] * green + weights[2] * blue


BLACK: Color = (13, 15, 18)
WHITE: Color = (255, 255, 255)


def readable_on(text: Color, background: Color) -> Color:
    """The text colour, replaced by black or white where it has too little contrast to the background."""
    if contrast(text, background) >= MIN_CONTRAST:
        return text
    return max(BLACK, WHITE, key=lambda color: contrast(color, background))


def token_colors(color: Color, text: Color) -> tuple[Color, Color]:
    """The colours of a token and of the letters on it, near those that are printed.

    The token is made a little darker or lighter until everybody can read its letters: on the red of the GM&O
    black letters vanish for those who see no red, and white ones are too weak for all others.
    """
    for step in range(20):
        for letters in (text, BLACK, WHITE):
            away = BLACK if lightness(letters) > 128 else WHITE
            changed = blend(color, away, step * 0.03)
            if least_contrast(letters, changed) >= MIN_CONTRAST:
                return changed, letters
    return color, readable_on(text, color)
