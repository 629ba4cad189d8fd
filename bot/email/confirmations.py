"""What `yes` and `no` do: link an address, take a seat, start a game, keep a lobby, agree to a robot."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.email.pages import answer_pages
from bot.email.pages.turn_pages import mail_file
from bot.email.reachability import Correspondents
from bot.email.replies.reply_limits import ERASED, Ruling
from bot.email.replies.reply_reader import ReadReply, is_about_vote
from bot.email.replies.table_replies import said_at_table
from bot.email.replies.yes_and_no import NO_WORDS, YES_WORDS, agrees_wholly, words_said
from bot.email.tokens import table_label, table_token
from bot.features.lobby.messages import tell_host
from bot.hub.info import TableInfo, status_text
from bot.hub.notifications.preferences import with_deputy
from bot.hub.people import load_standing, prefer_address
from bot.service import Service
from mail.composing.page import Attachment
from mail.reading.line_text import first_word, words_of
from mail.reading.reply_text import CONDITION
from mail.reading.small_talk import OK_WORDS, is_closing
from mail.reading.unclear_lines import (
    DECIDING,
    qualifies,
    retracts,
    starts_as_condition,
    without_idioms,
    word_pattern,
)
from mail.reply_address import ReplyToken
from storage import (
    AddressClaim,
    AlreadyExists,
    Person,
    UnitOfWork,
)

_AGREEING = YES_WORDS | {"confirm", "confirmed", "join", "accept"}
"""At the beginning they agree, whatever follows that does not say otherwise: `Yes, I would love to!`"""
_CLAUSE_END = re.compile(r"[,.!:;]")
_DECLINING_CLAUSE = re.compile(
    r"(?:i say |(?:i |my )?vote (?:is )?)?(?:no|n|nope|nein|non)(?: way)?|(?:i )?decline"
)
_UNABLE_CLAUSE = re.compile(
    r"(?:i )?(?:can't|cannot|can not)(?: (?:join|play|come|make it))?(?: (?:this time|now|at the moment))?"
    r"|not interested|not this time|leider (?:nein|nicht)"
)
"""It declines an invitation."""
_CONSENT_BEHIND_NO = OK_WORDS | YES_WORDS | {"sure", "mind", "ahead", "fine", "do", "object", "need", "kein"}
"""With these `no` declines no vote: `No, I don't mind`."""
_OTHERWISE = NO_WORDS | set(
    "pass can't cannot won't unable object refuse oppose disagree reject against".split()
)
_PUTTING_OFF = word_pattern("yet|no idea|no clue|no time|decide|decision|wait|noch nicht")
"""With these `no` declines nothing: `No idea yet`."""


def agreement(token: ReplyToken, reply: ReadReply) -> bool | None:
    """Whether a reply says yes or no to what its email asks; None where it says neither."""
    if _agrees(token, reply):
        return True
    return False if _declines(token, "".join(reply.answer[:1])) else None


def _agrees(token: ReplyToken, reply: ReadReply) -> bool:
    answer, *beside = reply.answer or ("",)
    others = (line for line in reply.text.lines if not line.endswith(answer))
    if token.purpose == "erase":  # which nothing brings back
        is_doubted = any(map(qualifies, reply.text.lines)) or any(map(_says_otherwise, others))
        return reply.says_yes and not is_doubted
    if is_about_vote(token):
        return (reply.says_yes or agrees_wholly(answer)) and not any(map(_says_otherwise, others))
    words = words_said(without_idioms(answer))
    line_of_yes = (token.decision_id or "").partition("|")[0] if token.purpose == "answer" else ""
    if words and words[0] in _AGREEING | {line_of_yes}:
        words += words_of(without_idioms(" ".join(beside)))
        is_in_doubt = CONDITION.search(answer) or any(starts_as_condition(x) or retracts(x) for x in beside)
        return _OTHERWISE.isdisjoint(words) and not is_in_doubt
    said = " ".join(clause for clause in _CLAUSE_END.split(answer) if not is_closing(clause))
    return agrees_wholly(said) and not any(map(_says_otherwise, reply.text.lines))


def _declines(token: ReplyToken, answer: str) -> bool:
    if _PUTTING_OFF.search(answer):
        return False
    first_clause = "".join(_clauses(answer)[:1])
    if is_about_vote(token):
        consents = "?" in answer or not _CONSENT_BEHIND_NO.isdisjoint(words_of(answer))
        return _DECLINING_CLAUSE.fullmatch(first_clause) is not None and not consents
    if token.purpose == "invite" and "?" not in answer and _UNABLE_CLAUSE.fullmatch(first_clause):
        return True
    return not NO_WORDS.isdisjoint(words_said(without_idioms(answer))[:1])


def _clauses(answer: str) -> list[str]:
    """What an answer says from one comma or full stop to the next, but `thanks` and `sorry`."""
    return list(filter(None, (" ".join(words_said(each)) for each in _CLAUSE_END.split(answer))))


def vote_in(token: ReplyToken, reply: ReadReply) -> str:
    """What a reply to an email about a vote says in it; empty where it says something else."""
    if reply.lines or reply.parsed.unclear:
        return ""
    agrees = agreement(token, reply)
    return "accept vote" if agrees else "" if agrees is None else "decline vote"


def _says_otherwise(line: str) -> bool:
    """Whether a line takes an `okay` back, or puts it off."""
    is_in_doubt = qualifies(line) or DECIDING.search(line) is not None or CONDITION.search(line) is not None
    return is_in_doubt or not _OTHERWISE.isdisjoint(words_of(line))


class Confirmations:
    """Answers to emails that ask for yes or no."""

    def __init__(self, service: Service) -> None:
        self._service, self._store = service, service.store

    async def confirm(self, token: ReplyToken, yes: bool) -> Ruling:
        """Link an address, or answer an invitation; a reply to the answer is for the table."""
        try:
            if token.purpose in ("export", "erase"):
                return await self._about_data(token, yes)
            sentence = await self._confirmed(token, yes)
        except (ValueError, AlreadyExists) as error:
            return Ruling("not done", answer_pages.table_answer((str(error),), is_done=False), token)
        later = replace(token, purpose="reply") if token.purpose == "link" and yes else token
        about = None if token.purpose == "link" else token.table_id
        return _ruling(sentence, await table_token(self._service, later, about))

    async def _about_data(self, token: ReplyToken, yes: bool) -> Ruling:
        """Hand out what is stored about a person, or delete it; who is deleted gets no answer.
        Raises ValueError."""
        again, data = replace(token, purpose="reply"), self._service.personal_data
        if not yes:
            return _ruling("Nothing was done with your data.", again)
        if token.purpose == "erase":
            await data.erase(token.person_id)
            return _ruling("", token)._replace(reason=ERASED)
        file = await data.export(token.person_id)
        return _ruling("Here is all that is stored about you.", again, mail_file(file))

    async def _confirmed(self, token: ReplyToken, yes: bool) -> str:
        """Do what was asked; returns the sentence for the player. Raises ValueError, and AlreadyExists."""
        if token.purpose == "invite" and token.table_id is not None:
            return await self._answer_invitation(token, token.table_id, yes)
        if token.purpose == "answer" and token.table_id is not None:
            of_yes, _, of_no = (token.decision_id or "").partition("|")
            if not (line := of_yes if yes else of_no):
                return f"Nothing is changed at {token.table_label}."
            table = await self._service.queries.table_info(token.table_id)  # begun, `decline` is a move there
            if not self._service.commands.from_outside(first_word(line), table.status):
                raise ValueError(f"Table {table.code} is {status_text(table.status)}.")
            return await said_at_table(self._service, token.person_id, table.id, line)
        async with self._store.begin() as unit:
            claim = await unit.people.claim_of_person(token.person_id)
            if claim is None or claim.address != token.address:
                if token.address in await unit.people.verified_addresses(token.person_id):
                    return f"{token.address} is confirmed: your emails go there."
                if yes:
                    raise ValueError(f"The request for {token.address} has expired. Please make it again.")
                return f"{token.address} is not linked."
            if not yes:
                await unit.people.delete_claims(token.person_id)
                return f"{token.address} is not linked."
            former = await load_standing(unit, token.person_id)
            owner = await unit.people.find_by_identity("email", claim.address)
            sentence = await self._link_address(unit, token.person_id, claim, owner)
        correspondents = Correspondents(self._service)
        if former.fault or not former.wants_mail:
            await correspondents.restore(token.person_id, claim.address, was_cut_off=bool(former.fault))
        elif owner is not None and owner.id != token.person_id:
            await correspondents.ask_again(token.person_id)
        self._service.wake_subscribers()
        return sentence

    async def _link_address(
        self, unit: UnitOfWork, person_id: int, claim: AddressClaim, owner: Person | None
    ) -> str:
        """Link the address of a claim beside the person's others; their emails go there from now on. owner:
        who had it, and becomes one with that person. Raises AlreadyExists."""
        await unit.people.accept_claim(claim)
        if owner is not None and owner.id != person_id:
            data, former = unit.personal_data, owner.id
            await data.rewrite_preferences(lambda wishes: with_deputy(wishes, former, person_id))
            await data.delete_messages(lambda address: address.get("person") == former)  # they are made anew
        person = await unit.people.get(person_id)
        await unit.people.update(person_id, preferences=person.preferences | {"mail": True})
        where = await prefer_address(unit, person_id, claim.address)
        return f"{claim.address} is confirmed, and you can play by replying to your emails. {where}"

    async def _answer_invitation(self, token: ReplyToken, table_id: int, yes: bool) -> str:
        table = await self._service.queries.table_info(table_id)
        if token.seat_number is not None:
            return await self._answer_seat_offer(token, table, token.seat_number, yes)
        player = next((each for each in table.seated_players if each.person_id == token.person_id), None)
        if player is None:
            if yes:
                raise ValueError(f"The seat at {table_label(table)} is no longer kept for you.")
            return f"No seat at {table_label(table)} is kept for you."
        if player.joined:
            return f"You have a seat at {table_label(table)}, as {player.name}."
        if not yes:
            await self._service.lobby.leave(table_id, token.person_id, by=token.person_id)
            return f"You have declined the seat at {table_label(table)}."
        async with self._store.begin() as unit:
            await unit.people.add_identity(token.person_id, "email", token.address)
        await self._service.lobby.join(table_id, token.person_id, player.name)
        seat = f"You have a seat at {table_label(table)}, as {player.name}."
        return f"{seat} You get an email when it is your turn."

    async def _answer_seat_offer(self, token: ReplyToken, table: TableInfo, seat: int, yes: bool) -> str:
        """Take the seat of a game in play, or decline it."""
        name = table.names[seat]
        if not yes:
            async with self._store.begin() as unit:
                own = (await unit.people.get(token.person_id)).name
                declined = f"{own} has declined the seat of {name} at table {table.code}."
                await tell_host(unit, table, declined, by=token.person_id)
            self._service.wake_subscribers()
            return f"You have declined the seat at {table_label(table)}."
        async with self._store.begin() as unit:
            await unit.people.add_identity(token.person_id, "email", token.address)
        return await said_at_table(self._service, token.person_id, table.id, f"ask {name}")


def _ruling(sentence: str, token: ReplyToken, *attachments: Attachment) -> Ruling:
    return Ruling("confirmed", answer_pages.confirmation(sentence, attachments), token)
