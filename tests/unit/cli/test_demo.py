from __future__ import annotations

from posthouse.cli.demo import with_mail
from posthouse.server.settings import Settings, settings_of, terms_of


def test_the_demo_takes_mail_on_this_machine_and_sends_none() -> None:
    terms = terms_of(with_mail(Settings(), is_free=True))
    (door,) = terms.mail.doors
    assert (door.speech, door.listen, door.relay, terms.mail.domains) == (
        "smtp", "127.0.0.1:2525", (), ("bakery.example",)
    )  # fmt: skip
    assert not terms.mailing.name


def test_the_demo_takes_no_mail_where_its_port_is_taken() -> None:
    assert with_mail(Settings(), is_free=False) == Settings()


def test_whoever_set_up_mail_gets_what_was_set_up() -> None:
    for chosen in ({"mail.domains": "mill.example"}, {"doors.mine": "lmtp 127.0.0.1:2424"}):
        assert with_mail(settings_of(chosen), is_free=True) == settings_of(chosen)
