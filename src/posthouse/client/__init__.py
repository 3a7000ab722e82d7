"""The front door for programs: `from posthouse.client import Office`."""

from posthouse.client.connect import connect
from posthouse.client.desk import Desk, hear_cases
from posthouse.client.draft import Draft
from posthouse.client.office import LeaseLost, Mailbox, Office, Refused
from posthouse.client.taken import Delivery
from posthouse.message.attribute import Int32
from posthouse.message.case import Docket
from posthouse.message.changes import Filter
from posthouse.message.message import Body, Message
from posthouse.message.tiding import CaseEvent
from posthouse.office.deskcalls import CaseStory, Decided
from posthouse.office.intake import Receipt

__all__ = [
    "Body",
    "CaseEvent",
    "CaseStory",
    "Decided",
    "Delivery",
    "Desk",
    "Docket",
    "Draft",
    "Filter",
    "Int32",
    "LeaseLost",
    "Mailbox",
    "Message",
    "Office",
    "Receipt",
    "Refused",
    "connect",
    "hear_cases",
]
