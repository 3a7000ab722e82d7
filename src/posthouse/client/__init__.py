"""The front door for programs: `from posthouse.client import Office`."""

from posthouse.client.connect import connect
from posthouse.client.draft import Draft
from posthouse.client.office import LeaseLost, Mailbox, Office, Refused
from posthouse.client.taken import Delivery
from posthouse.message.attribute import Int32
from posthouse.message.changes import Filter
from posthouse.message.message import Body, Message
from posthouse.office.intake import Receipt

__all__ = [
    "Body",
    "Delivery",
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
]
