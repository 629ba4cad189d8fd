"""Where the certificate that came with a private is: which of a company's equal shares it is.

On 18xx.games shares are numbered certificates, and a private that carries one cannot be sold between players
while a player holds it. A position has percentages instead, so only the place of that certificate is kept:
its owner, and its position among the owner's ordinary certificates. An owner's certificates leave in the
order in which they came, the president's last; a player who protects a price buys those that came last. For
the president's certificate the new president gives their first ordinary ones: to the old president, or to the
pool if that one keeps too few shares. `CertificateNumbering` follows all certificates by the same rules.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.core.components import ShareGrant
from engine.core.events import GrantedCertificateMoved
from engine.core.state import IPO, POOL, is_seat
from engine.game import Game


class Place(NamedTuple):
    """The owner of a certificate, and its position among the owner's ordinary certificates."""

    owner: str
    position: int


class ShareMove(NamedTuple):
    """A move of that `number` of shares.

    `ordinary`: by owner the ordinary certificates before it. `president`: how many shares the president's
    certificate is; `old` and `new`: the presidents before and after; `leaves_certificate`: the source gives
    (half of) the president's certificate; `kept`: the shares that the old president keeps. `latest`: the
    certificates that came last move first.
    """

    source: str
    target: str
    number: int
    ordinary: dict[str, int]
    president: int
    old: str | None
    new: str | None
    leaves_certificate: bool
    kept: int
    latest: bool


def granted_shares(g: Game) -> dict[str, ShareGrant]:
    """By private the ordinary share that came with it."""
    grants = {private.sym: private.grants for private in g.components.privates}
    return {sym: grant for sym, grant in grants.items() if grant and not grant.president}


def certificate_place(g: Game, private: str) -> Place:
    """Where the certificate of a private is. In a position that was set up, the nearest guess."""
    if place := g.state.granted_certificates.get(private):
        return Place(*place)
    shares = g.company(granted_shares(g)[private].company).shares
    owners = (g.state.private_owners[private], *filter(is_seat, shares), POOL)
    return Place(next((owner for owner in owners if shares.get(owner, 0) > 0), IPO), 0)


def certificate_places(g: Game, company: str) -> dict[str, Place]:
    """By private where its certificate is, of those that came with a share of the company."""
    grants = granted_shares(g).items()
    return {private: certificate_place(g, private) for private, grant in grants if grant.company == company}


def follow_certificates(g: Game, places: dict[str, Place], move: ShareMove) -> None:
    """Record where certificates are after a move of the company's shares; `places`: before it."""
    for private, place in places.items():
        if (after := place_after(place, move)) != place:
            g.emit(GrantedCertificateMoved(private, after.owner, after.position))


def place_after(place: Place, move: ShareMove) -> Place:
    """The place of a certificate after a move of shares."""
    counts = {
        owner: move.ordinary.get(owner, 0) for owner in (*move.ordinary, move.source, move.target, POOL)
    }
    ordinary = min(move.number, counts[move.source])
    place = _moved(place, counts, move.source, move.target, ordinary, latest=move.latest)
    if move.old and move.new and move.old != move.new:
        gets = move.old if move.kept >= move.president else POOL
        counts.setdefault(move.new, 0)
        counts.setdefault(move.old, 0)
        place = _moved(place, counts, move.new, gets, move.president)
    if move.leaves_certificate and (excess := ordinary + move.president - move.number) > 0:
        place = _moved(place, counts, move.target, move.source, excess)
    return place


def _moved(
    place: Place, counts: dict[str, int], source: str, target: str, count: int, *, latest: bool = False
) -> Place:
    """The place after so many ordinary certificates went from source to target; `counts` follow."""
    first = counts[source] - count if latest else 0
    if place.owner == source:
        offset = place.position - first
        if 0 <= offset < count:
            place = Place(target, counts[target] + offset)
        elif offset >= count:
            place = Place(source, place.position - count)
    counts[source] -= count
    counts[target] += count
    return place


def is_held_by_player(g: Game, private: str) -> bool:
    """Whether a player holds the certificate that came with a private."""
    return private in granted_shares(g) and is_seat(certificate_place(g, private).owner)
