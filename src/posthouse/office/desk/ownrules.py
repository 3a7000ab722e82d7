"""What the rules of a gatekeeper say of a message that nobody has decided on in time."""

from __future__ import annotations

from posthouse.gate.decide import Broken, Subject, Terms, decide
from posthouse.gate.firstmatch import first_match
from posthouse.gate.history import history_of
from posthouse.gate.rulebook import RuleBook
from posthouse.gate.ruling import Ruling
from posthouse.gate.statistics import OfficeFigures
from posthouse.matching.value.record import Context, Record, make_record
from posthouse.message.journey import Journey
from posthouse.office.desk.papers import Papers
from posthouse.office.library import InForce, Library


def say(papers: Papers, *, library: Library, in_force: InForce) -> Ruling | None:
    """Ask the rules of the gatekeeper that are in force now; None where there are none."""
    docket, wrapper, journey, setting = papers.docket, papers.wrapper, papers.journey, papers.setting
    book = in_force.rules_of(docket.gatekeeper)
    if book is None:
        return None
    statistics = library.statistics
    context = Context(
        now=setting.now,
        zone=setting.zone,
        organisation=in_force.organisation,
        office_statistics=None if statistics is None else OfficeFigures(statistics, setting.now),
        history=history_of(wrapper, docket),
    )
    record = make_record(journey.message, journey.luggage.envelope, features=journey.luggage.features, context=context)
    edition = 0 if in_force.organisation is None else in_force.organisation.edition
    terms = Terms(office="", now=setting.now, zone=setting.zone, organisation=edition)
    if setting.policy.habits(docket.gatekeeper).mode == "first":
        broken: list[Broken] = []
        ruling = first_match(book, record, terms=terms, message=journey.message.id, broken=broken)
        library.breakage.hear(book.title, broken, is_whole=False)
        return ruling
    return _ranked(book, record, terms, journey, library=library)


def _ranked(book: RuleBook, record: Record, terms: Terms, journey: Journey, *, library: Library) -> Ruling:
    """Ask all of them, and give what ranks highest."""
    subject = Subject(id=journey.message.id, record=record, checkpoint="expiry")
    ruled = decide(book, [subject], terms=terms)
    library.breakage.hear(book.title, ruled.broken)
    return ruled.rulings[0][0]
