"""The few numbers of the judgements that were found by play and not by rules.

A player of the arena may have others: `robot:0.2+sale_margin=0.1`.
"""

from __future__ import annotations

import msgspec


class Weights(msgspec.Struct, frozen=True):
    """What the judgements weigh with.

    * `float_bonus`: dollars of worth of a share that helps to float one's own company.
    * `sale_margin`: a share is sold once it will fall by this part of its price.
    * `horizon`: operating rounds that are looked ahead at most: later ones are too uncertain.
    * `growth`: by which part all revenues together grow from one operating round to the next.
    * `treasury_dollar`: what a dollar that a company does not need is worth to its owners.
    * `private_resale_dollar`: what a dollar is worth to the president that the company pays for a private.
    * `reach`: dollars a round that a dollar of stops within reach is worth, until there is a train for them.
    * `most_of_face`: no private is worth more than that part of its face value: companies need the money.
    * `prospect`: how much of what trains would earn on grown track is reckoned with; 0 is today's track only.
    * `judged_part`: how much a judgement counts beside what a plan brings.
    """

    float_bonus: float = 120.0
    sale_margin: float = 0.06
    horizon: float = 7.0
    growth: float = 0.08
    treasury_dollar: float = 0.2
    private_resale_dollar: float = 0.75
    reach: float = 0.12
    most_of_face: float = 1.4
    judged_part: float = 0.3
    prospect: float = 1.0


DEFAULT_WEIGHTS = Weights()


def varied(weights: Weights, changes: str) -> Weights:
    """Weights with changes such as `reach=0.2+growth=0.05`. Raises ValueError with a sentence."""
    values = {}
    for change in changes.split("+"):
        name, equals, value = change.partition("=")
        if name not in Weights.__struct_fields__ or not equals:
            raise ValueError(
                f"{change!r} is no weight; the weights are {', '.join(Weights.__struct_fields__)}."
            )
        try:
            values[name] = float(value)
        except ValueError:
            raise ValueError(f"{value!r} is no number for the weight {name}.") from None
    return msgspec.structs.replace(weights, **values)
