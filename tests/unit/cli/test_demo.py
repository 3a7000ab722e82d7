from __future__ import annotations

from pathlib import Path

from posthouse.cli.demo import with_mail
from posthouse.server.settings import Settings, settings_of, terms_of

STORE = Path("/srv/demo/office.db")


def test_the_demo_takes_mail_on_this_machine_and_sends_none() -> None:
    terms = terms_of(with_mail(Settings(), STORE, is_free=True))
    (door,) = terms.mail.doors
    assert (door.speech, door.listen, door.relay, terms.mail.domains) == (
        "smtp", "127.0.0.1:2525", (), ("bakery.example",)
    )  # fmt: skip
    assert terms.mailing.routes == (("*", "maildir:/srv/demo/sent/{domain}/{local}"),)


def test_the_demo_has_no_door_where_its_port_is_taken() -> None:
    terms = terms_of(with_mail(Settings(), STORE, is_free=False))
    assert (terms.mail.doors, terms.mail.domains) == ((), ("bakery.example",))


def test_whoever_set_up_mail_gets_what_was_set_up() -> None:
    for chosen in ({"mail.domains": "mill.example"}, {"doors.mine": "lmtp 127.0.0.1:2424"}, {'routes."*"': "mx"}):
        assert with_mail(settings_of(chosen), STORE, is_free=True) == settings_of(chosen)
