"""Who owns which numbered certificate of a company.

Theory of operation. An owner's certificates are kept in the order in which they were received, and leave in
that order; a player who protects a price buys those that were just sold. The president's certificate (number
0) leaves last. When the presidency changes, the new president gives their first ordinary certificates for it:
to the old president, or to the pool if the old one keeps too few.

A company that chooses its size has its certificates numbered as they are created: 0 is the president's, then
those of its first size, then those of a conversion or of a company that it absorbs. A short sale creates two,
numbered from 10: an ordinary one that goes to the pool, and its negative, which stays with the seller until
they buy a share for it; then both are removed.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.core.events import (
    AnyEvent,
    CompanyReturned,
    CoveredShortsClosed,
    PresidencyVacated,
    PresidentNamed,
    PriceProtected,
    PrivateMoved,
    SharesMoved,
    SharesRestructured,
)
from engine.core.state import IPO, POOL
from engine.game import GameTitle
from engine.site_18xx.names import SiteNames

FIRST_SHORT_NUMBER = 10


class CertificateNumbering:
    """The certificates (`company_number`) of all companies of one game in its current position."""

    def __init__(self, names: SiteNames, title: GameTitle) -> None:
        self._names = names
        self._privates = title.privates
        self._percents: dict[str, dict[str, int]] = {}
        self._held: dict[str, dict[str, list[str]]] = {}
        self._presidents: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._half_sold: dict[str, tuple[list[str], int]] = {}
        for company, definition in title.companies.items():
            percents = {self._name(company, number): p for number, p in enumerate(definition.shares)}
            self._percents[company], self._held[company] = percents, {IPO: list(percents)}

    def last_received(self, company: str, owner: str, percent: int) -> list[str]:
        """The certificates in which an owner received the last so many percent."""
        percents, shares = self._percents[company], list[str]()
        for share in reversed(self._held[company].get(owner, ())):
            if percent > 0:
                shares.insert(0, share)
                percent -= percents[share]
        return shares

    def to_protect(self, company: str, percent: int) -> list[str]:
        """The certificates that a protection of so many percent names: the president's as it was sold."""
        shares, sold = self._half_sold.get(company, ([], 0))
        return shares if sold == percent else self.last_received(company, POOL, percent)

    def next_to_leave(self, company: str, owner: str, percent: int) -> list[str]:
        """The certificates in which so many percent leave an owner; half a president's is named whole."""
        percents, shares = self._percents[company], list[str]()
        owned = [share for share in self._held[company].get(owner, ()) if percents[share] > 0]
        for share in sorted(owned, key=lambda share: share == self._presidents_certificate(company)):
            if percent <= 0:
                break
            shares.append(share)
            percent -= percents[share]
        return shares

    def owner(self, share: str) -> str | None:
        """The owner of a certificate, or None for an unknown one."""
        company = self._names.our_company(share.rpartition("_")[0])
        return next((owner for owner, held in self._held.get(company, {}).items() if share in held), None)

    def prefer(self, shares: Sequence[str]) -> None:
        """Let these certificates leave their owner before others; unknown ones are skipped."""
        for share in reversed(shares):
            if owner := self.owner(share):
                held = self._held[self._names.our_company(share.rpartition("_")[0])][owner]
                held.remove(share)
                held.insert(0, share)

    def holders(self, company: str) -> dict[str, dict[str, int]]:
        """By owner the certificates of a company, with the percent of each."""
        percents = self._percents[company]
        return {owner: {s: percents[s] for s in held} for owner, held in self._held[company].items() if held}

    def update(self, events: Sequence[AnyEvent]) -> None:
        """Follow the events of an action."""
        absorbed = [e.company for e in events if isinstance(e, PresidencyVacated)]
        protected: str | None = None
        for at, event in enumerate(events):
            match event:
                case PrivateMoved(private, seat):
                    self._prefer_granted(private, seat, events[at:])
                case PriceProtected(_, company):
                    protected = company
                case SharesMoved(company, source, target, percent):
                    select = (
                        self.last_received if company == protected and source == POOL else self.next_to_leave
                    )
                    shares_moved = select(company, source, percent)
                    self._note_half_sale(company, target, percent, shares_moved)
                    president = _president_named_beside(events, at, company)
                    self._move(company, source, target, percent, shares_moved, president)
                    protected = None
                case SharesRestructured(company, size, shares):
                    self._restructure(company, size, shares, [c for c in absorbed if c != company])
                case PresidentNamed(company, seat) if not _shares_moved_beside(events, at, company):
                    self._set_president(company, seat)
                case CoveredShortsClosed(company):
                    self._close_shorts(company, POOL)
                case PresidencyVacated(company):
                    self._presidents.pop(company, None)
                case CompanyReturned(company):
                    first = self._presidents_certificate(company)
                    self._percents[company], self._held[company] = {first: 100}, {IPO: [first]}
                    self._presidents.pop(company, None)
                    self._sizes.pop(company, None)
        for company in {e.company for e in events if isinstance(e, SharesRestructured)}:
            for owner in self._held[company]:
                if owner != POOL or absorbed:
                    self._close_shorts(company, owner)

    def _note_half_sale(self, company: str, target: str, percent: int, shares: list[str]) -> None:
        """Remember the certificates of a sale with half the president's until shares move again."""
        self._half_sold.pop(company, None)
        if target == POOL and sum(self._percents[company][share] for share in shares) > percent:
            self._half_sold[company] = shares, percent

    def _prefer_granted(self, private: str, seat: str, events: Sequence[AnyEvent]) -> None:
        """Let the certificate that comes with a private leave first, if its buyer receives it now."""
        grant = self._privates[private].grants
        if grant is None or grant.president:
            return
        moves = (e for e in events if isinstance(e, SharesMoved))
        if any((e.company, e.target) == (grant.company, seat) for e in moves):
            self.prefer([self._name(grant.company, 1)])

    # -- names -------------------------------------------------------------------------

    def _name(self, company: str, number: int) -> str:
        return f"{self._names.site_company(company)}_{number}"

    def _presidents_certificate(self, company: str) -> str:
        return self._name(company, 0)

    def _number(self, share: str) -> int:
        return int(share.rpartition("_")[2])

    # -- moving ------------------------------------------------------------------------

    def _transfer(self, company: str, shares: Sequence[str], source: str, target: str) -> None:
        for share in shares:
            self._held[company][source].remove(share)
            self._held[company].setdefault(target, []).append(share)

    def _total_percent(self, company: str, owner: str) -> int:
        return sum(self._percents[company][share] for share in self._held[company].get(owner, ()))

    def _move(
        self,
        company: str,
        source: str,
        target: str,
        percent: int,
        moved: list[str],
        new_president: str | None,
    ) -> None:
        percents, president = self._percents[company], self._presidents.get(company)
        first, unit = self._presidents_certificate(company), min(map(abs, percents.values()))
        if president is None and new_president is not None:
            self._transfer(company, [first], source, target)
            self._presidents[company] = new_president
            return
        if percent < 0:
            self._transfer(company, self._shorts(company, source), source, target)
            self._close_shorts(company, target)
            return
        if source == company and target == POOL and self._shorts(company, POOL):
            self._close_pool_shorts(company, moved)
            return
        if source != POOL and self._total_percent(company, source) < percent:
            self._sell_short(company, source, target, percent)
            return
        self._transfer(company, moved, source, target)
        if president and new_president:
            self._transfer_presidency(company, new_president)
        excess = sum(percents[share] for share in moved) - percent
        self._transfer(company, self._held[company][target][: excess // unit], target, source)
        self._close_shorts(company, target)

    def _transfer_presidency(self, company: str, new: str) -> None:
        """The new president gives ordinary certificates for the president's, to its present owner.

        That is the old president, or the owner that has just received half of it: the pool, or a player who
        protects the part that they had sold.
        """
        percents, first = self._percents[company], self._presidents_certificate(company)
        owner = self.owner(first)
        assert owner is not None
        given = [share for share in self._held[company][new] if 0 < percents[share] < percents[first]]
        unit = min(map(abs, percents.values()))
        self._transfer(company, given[: percents[first] // unit], new, owner)
        self._transfer(company, [first], owner, new)
        self._presidents[company] = new

    # -- short sales ---------------------------------------------------------------------

    def _shorts(self, company: str, owner: str) -> list[str]:
        return [share for share in self._held[company].get(owner, ()) if self._percents[company][share] < 0]

    def _sell_short(self, company: str, seller: str, target: str, percent: int) -> None:
        percents = self._percents[company]
        number = max(FIRST_SHORT_NUMBER - 1, *map(self._number, percents)) + 1
        for each, worth, owner in ((number + 1, -percent, seller), (number, percent, target)):
            share = self._name(company, each)
            percents[share] = worth
            self._held[company].setdefault(owner, []).append(share)

    def _close_pool_shorts(self, company: str, shares: Sequence[str]) -> None:
        """The pool, which is short, receives these from the treasury; they and its shorts are removed."""
        percents, held = self._percents[company], self._held[company]
        for share, short in zip(shares, self._shorts(company, POOL), strict=False):
            held[company].remove(share)
            held[POOL].remove(short)
            del percents[share], percents[short]

    def _close_shorts(self, company: str, owner: str) -> None:
        """Remove pairs of a share and a short share of the same owner."""
        percents, held = self._percents[company], self._held[company].get(owner, [])
        shares = [
            share for share in held if percents[share] > 0 and share != self._presidents_certificate(company)
        ]
        for pair in zip(self._shorts(company, owner), shares, strict=False):
            for share in pair:
                held.remove(share)
                del percents[share]

    # -- companies that choose their number of shares --------------------------------------

    def _restructure(self, company: str, size: int, shares: dict[str, int], absorbed: list[str]) -> None:
        percents, first = self._percents[company], self._presidents_certificate(company)
        if set(shares) == {company}:
            return  # another company absorbs it
        percents |= {share: (100 if worth > 0 else -100) // size for share, worth in percents.items()}
        percents[first] = 200 // size
        old = self._sizes.get(company, size)
        self._sizes[company] = size
        created = [self._name(company, number) for number in range(max(old - 1, 1), size - 1)]
        percents |= dict.fromkeys(created, 100 // size)
        if size == 2:
            self._held[company] = {next(iter(shares)): [first]}
            return
        self._held[company].setdefault(company, []).extend(created)
        if size == 10:
            for other in absorbed:
                self._absorb(company, other, created)
        for holder, percent in shares.items():
            missing = (percent - self._total_percent(company, holder)) // (100 // size)
            if holder != company and missing > 0:
                self._transfer(company, self._held[company][company][:missing], company, holder)

    def _absorb(self, company: str, other: str, created: list[str]) -> None:
        """Give the holders of an absorbed company as many new certificates.

        They are given in the order in which the old ones were created. Ordinary ones are those that the
        conversion created, while there are any; further ones and short ones have the next numbers.
        """
        percents, left = self._percents[company], list(created)
        owners = {share: owner for owner, held in self._held[other].items() for share in held}
        number = max(FIRST_SHORT_NUMBER - 1, *map(self._number, percents))
        for share, worth in self._percents[other].items():
            owner = company if owners[share] == other else owners[share]
            for _ in range(2 if share == self._presidents_certificate(other) else 1):
                if worth > 0 and left:
                    self._transfer(company, [left.pop(0)], company, owner)
                    continue
                number += 1
                new = self._name(company, number)
                percents[new] = percents[created[0]] * (1 if worth > 0 else -1)
                self._held[company].setdefault(owner, []).append(new)

    def _set_president(self, company: str, seat: str) -> None:
        """Follow a presidency that changes without a move of shares."""
        old = self._presidents.get(company)
        if old is None:
            self._presidents[company] = seat
        elif old != seat:
            self._transfer_presidency(company, seat)


def _shares_moved_beside(events: Sequence[AnyEvent], at: int, company: str) -> bool:
    """Whether shares of the company move in the event right before or after this one."""
    return any(isinstance(e, SharesMoved) and e.company == company for e in _beside(events, at))


def _president_named_beside(events: Sequence[AnyEvent], at: int, company: str) -> str | None:
    """The president named in the event right before or after this one, or None."""
    named = (e for e in _beside(events, at) if isinstance(e, PresidentNamed) and e.company == company)
    return next((event.seat for event in named), None)


def _beside(events: Sequence[AnyEvent], at: int) -> Sequence[AnyEvent]:
    return (*events[max(at - 1, 0) : at], *events[at + 1 : at + 2])
