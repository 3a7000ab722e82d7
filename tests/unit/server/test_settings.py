"""Settings: where each comes from, what is refused, and that everything wrong is told at once."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posthouse.message.name import parse_office
from posthouse.office.terms import Terms
from posthouse.server.settings import Settings, is_secret, kinds, settings_of, terms_of, values
from posthouse.server.sources import (
    MAX_FILE,
    Given,
    Origin,
    SettingsFault,
    flag,
    in_environment,
    in_file,
    read_settings,
    settle,
    shown,
    variable_of,
)

HERE = Path("folder/posthouse.toml")


def told(faults: ExceptionGroup[SettingsFault]) -> list[str]:
    return [str(fault) for fault in faults.exceptions]


def faults_in(text: str) -> list[str]:
    given, faults = in_file(text.encode(), HERE)
    with pytest.raises(ExceptionGroup) as raised:
        settle(given, faults=faults)
    return told(raised.value)


def test_defaults_are_the_terms_of_an_office() -> None:
    assert terms_of(Settings()) == Terms()


def test_all_settings_become_terms() -> None:
    given, _ = in_file(
        b"""
        [store]
        inline_bytes = "1KiB"
        [office]
        name = "http://post.example:8025/main"
        [limits]
        body_bytes = 5
        recipients = 6
        hops = 7
        listed_only = true
        [patience]
        first_pause = "100ms"
        growth = 3
        longest_pause = "1m"
        attempts = 8
        give_up_after = "2d"
        [traffic]
        at_once = 9
        batch = 10
        trip_after = 11
        walk_seconds = 12
        [lease]
        usual = "5s"
        longest = "1h 30m"
        [keys]
        days = 0.5
        """,
        HERE,
    )
    terms = terms_of(settle(given).settings)
    assert terms.name == parse_office("http://post.example:8025/main")
    assert (terms.lease_seconds, terms.longest_lease_seconds, terms.key_days, terms.inline_bytes) == (
        5,
        5400,
        0.5,
        1024,
    )
    assert terms.limits == type(terms.limits)(body_bytes=5, recipients=6, hops=7, listed_only=True)
    assert terms.patience == type(terms.patience)(
        first_pause=0.1, growth=3, longest_pause=60, attempts=8, give_up_after=172_800
    )
    assert terms.traffic == type(terms.traffic)(at_once=9, batch=10, trip_after=11, walk_seconds=12)


def test_a_flag_wins_over_the_environment_over_the_file_over_the_default(tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    file.write_text("[log]\nlevel = 'error'\nform = 'json'\n\n[lease]\nusual = 1\nlongest = 100\n")
    reading = read_settings(
        config=str(file),
        environment={"POSTHOUSE_LEASE_USUAL": "2s", "POSTHOUSE_LOG_FORM": "console"},
        flags=[flag("lease.usual=3s")],
    )
    chosen = dict(values(reading.settings))
    assert (chosen["log.level"], chosen["log.form"], chosen["lease.usual"]) == ("error", "console", 3.0)
    assert reading.origins["log.level"] == Origin("file", f"{file}:2")
    assert reading.origins["log.form"] == Origin("environment", "POSTHOUSE_LOG_FORM")
    assert reading.origins["lease.usual"] == Origin("flag", "--set")
    assert reading.origins["lease.longest"] == Origin("file", f"{file}:7")
    assert reading.origins["keys.days"] == Origin("default")


def test_the_file_may_be_named_by_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    file.write_text("log.level = 'error'\n")
    reading = read_settings(environment={"POSTHOUSE_CONFIG": str(file)})
    assert reading.settings.log.level == "error"
    assert reading.origins["log.level"].place == f"{file}:1"


def test_without_a_file_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_settings().file is None
    (tmp_path / "posthouse.toml").write_text("[keys]\ndays = 3\n")
    reading = read_settings()
    assert (reading.file, reading.settings.keys.days) == ("posthouse.toml", 3)


def test_a_path_counts_from_the_folder_of_its_file() -> None:
    given, _ = in_file(b'store.path = "mail/office.db"', HERE)
    assert settle(given).settings.store.path == "folder/mail/office.db"
    assert settle([flag("store.path=mail/office.db")]).settings.store.path == "mail/office.db"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[limits]\nhops = 0", "folder/posthouse.toml:2: expected limits.hops to be a whole number from 1 to 1,000,"),
        ("[limits]\nhops = true", "expected limits.hops to be a whole number from 1 to 1,000,000, found true"),
        ("[limits]\nhops = 2.5", "found 2.5"),
        ("[limits]\nlisted_only = 1", "expected limits.listed_only to be true or false, found 1"),
        ("[limits]\nbody_bytes = '7 parsecs'", 'found "7 parsecs"'),
        ("[lease]\nusual = -1", "expected lease.usual to be seconds or a duration such as 90s, 15m or 2h"),
        ("[lease]\nusual = nan", "found nan"),
        ("[lease]\nusual = '5s5'", 'found "5s5"'),
        ("[lease]\nusual = '99999w'", 'found "99999w"'),
        ("[store]\npath = ''", "expected store.path to be the path of a file"),
        ("[store]\npath = ['a']", "found ['a']"),
        ("[log]\nlevel = 'loud'", "expected log.level to be one of debug, info, warning, error"),
        ("[office]\nname = 'http://a b'", 'name "http://a b", column 9'),
        ("[limits]\nhopps = 3", "(did you mean limits.hops?)"),
        ("[logs]\nlevel = 'info'", "(did you mean log.level?)"),
        ("[nowhere]\nsomething = 1", "(the groups are store, office, limits,"),
        ("[nowhere]", "(the groups are store, office, limits,"),
        ("[store]\nblue = 1", "(store has path, inline_bytes)"),
        ("level = 'info'", "folder/posthouse.toml:1: expected settings in groups, such as [log], found level ="),
        ("level = 'info'", "(write it as log.level = ..., or below [log])"),
        ("log = 3", "expected settings in groups"),
        ("[lease]\nusual = '10h'\nlongest = '9h'", "toml:2: expected lease.usual to be at most lease.longest"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_with_its_place(text: str, fault: str) -> None:
    found = faults_in(text)
    assert len(found) == 1
    assert fault in found[0]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b"[log\nlevel = 1", "posthouse.toml:1, column 5"),
        (b"[log]\nlevel = ", "posthouse.toml"),
        (b"a = 1\na = 2", "posthouse.toml:2"),
        (b"\n\n[log]\nlevel = '\xff'", "posthouse.toml:4: expected text in UTF-8, found the byte 0xff"),
        (b"a = " + b"[" * 100_000, "found brackets nested too deeply"),
        (b"a = " + b"9" * 10_000, "expected TOML"),
    ],
)
def test_what_is_no_toml_is_one_fault(text: bytes, place: str) -> None:
    given, faults = in_file(text, HERE)
    assert not given
    assert len(faults) == 1
    assert place in str(faults[0])
    assert len(str(faults[0])) < 400


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "posthouse.toml"
    file.write_text("[limits]\nhops = 0\nrecipients = 'many'\n")
    with pytest.raises(ExceptionGroup) as raised:
        read_settings(
            config=str(file),
            environment={"POSTHOUSE_LOG_LEVL": "info", "POSTHOUSE_KEYS_DAYS": "x"},
            flags=[flag("log.form=xml"), flag("blue=1")],
        )
    assert [str(fault).partition(":")[0].partition("/")[0] or "file" for fault in raised.value.exceptions] == [
        "file", "file", "POSTHOUSE_KEYS_DAYS", "POSTHOUSE_LOG_LEVL", "--set", "--set",
    ]  # fmt: skip
    assert all(fault.code == "settings.fault" for fault in raised.value.exceptions if isinstance(fault, SettingsFault))


def test_a_fault_carries_its_facts() -> None:
    with pytest.raises(ExceptionGroup) as raised:
        settle([flag("limits.hops=none")])
    fault = raised.value.exceptions[0]
    assert isinstance(fault, SettingsFault)
    assert (fault.where, fault.found) == ("--set", '"none"')
    assert fault.expected.startswith("limits.hops to be a whole number")


@pytest.mark.parametrize("name", ["no.toml", "."])
def test_a_file_that_cannot_be_read_is_a_fault(name: str, tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup, match="settings") as raised:
        read_settings(config=str(tmp_path / name))
    assert "expected a settings file that can be read" in told(raised.value)[0]


def test_a_file_is_read_up_to_a_size(tmp_path: Path) -> None:
    file = tmp_path / "large.toml"
    file.write_bytes(b"#" * (MAX_FILE + 1))
    with pytest.raises(ExceptionGroup) as raised:
        read_settings(config=str(file))
    assert "expected at most 1,048,576 bytes, found more" in told(raised.value)[0]


def test_variables_of_no_group_may_mean_something_to_others() -> None:
    given, ignored = in_environment({
        "POSTHOUSE_SERVICE_HOST": "10.0.0.1", "POSTHOUSE_DEBUG": "1", "POSTHOUSE_CONFIG": "x", "POST": "y",
    })  # fmt: skip
    assert (given, ignored) == ([], ["POSTHOUSE_SERVICE_HOST"])


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("POSTHOUSE_LIMITS_BODYBYTES", "did you mean POSTHOUSE_LIMITS_BODY_BYTES?"),
        ("POSTHOUSE_LIMIT_BODY_BYTES", "did you mean POSTHOUSE_LIMITS_BODY_BYTES?"),
        ("POSTHOUSE_LOG", "log has level, form"),
    ],
)
def test_a_variable_nearly_right_is_told(variable: str, hint: str) -> None:
    given, _ = in_environment({variable: "1"})
    with pytest.raises(ExceptionGroup) as raised:
        settle(given)
    assert hint in told(raised.value)[0]


def test_every_setting_has_its_variable() -> None:
    given, ignored = in_environment({variable_of(name): "x" for name in kinds()})
    assert sorted(one.name for one in given) == sorted(kinds())
    assert not ignored


def test_a_flag_needs_its_sign() -> None:
    with pytest.raises(ExceptionGroup) as raised:
        flag("log.level")
    assert told(raised.value) == ['--set: expected group.field=value, found "log.level" (such as log.level=debug)']


def test_defaults_are_values_that_could_be_given() -> None:
    assert {name: kinds()[name].read(value) for name, value in values(Settings())} == dict(values(Settings()))
    assert settings_of(dict(values(Settings()))) == Settings()


def test_what_is_shown_can_be_given() -> None:
    for name, value in values(Settings()):
        assert settle([flag(f"{name}={shown(name, value)}")]).settings == Settings(), name


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("mail.password", True),
        ("web.session_secret", True),
        ("api.tokens", True),
        ("keys.key_material", True),
        ("keys.days", False),
        ("log.level", False),
        ("web.secretary", False),
    ],
)
def test_secrets_are_known_by_their_names(name: str, secret: bool) -> None:
    assert is_secret(name) is secret
    if secret:
        assert shown(name, "made-up") == "***"


def test_a_secret_is_not_told_in_a_fault() -> None:
    with pytest.raises(ExceptionGroup) as raised:
        settle(
            [
                Given(
                    name="outgoing.password",
                    value="made-up\n",
                    place="POSTHOUSE_OUTGOING_PASSWORD",
                    source="environment",
                )
            ]
        )
    assert "made-up" not in told(raised.value)[0]


@given(st.binary(max_size=300))
def test_any_bytes_are_settings_or_faults(text: bytes) -> None:
    given, faults = in_file(text, HERE)
    with contextlib.suppress(ExceptionGroup):
        settle(given, faults=faults)


ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers(), max_size=2)


@given(st.sampled_from(sorted(kinds())), ANYTHING)
def test_any_value_is_taken_or_refused(name: str, value: object) -> None:
    with contextlib.suppress(ExceptionGroup):
        reading = settle([Given(name=name, value=value, place="here", source="flag")])
        assert dict(values(reading.settings))[name] is not None


RELAY = '[mail]\nhostname = "mx.corp.example"\nrelay_domains = "corp.example"\n'


def test_mail_is_passed_on_for_domains_with_a_route_of_their_own() -> None:
    given, _ = in_file(f'{RELAY}[routes]\n"Corp.Example" = "smtp://10.0.0.5:25"\n'.encode(), HERE)
    terms = terms_of(settle(given).settings)
    assert (terms.mail.domains, terms.mail.relay_domains) == ((), ("corp.example",))
    assert terms.mailing.name == "mx.corp.example"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", 'expected routes."corp.example" to say to which server the mail of corp.example goes, found no such line'),
        ('[routes]\n"*" = "smtp://10.0.0.5:25"\n', "found no such line"),
        ('[routes]\n".example" = "smtp://10.0.0.5:25"\n', "found no such line"),
        ('[routes]\n"corp.example" = "mx"\n', "to name a server, found mx, which may well be this office"),
    ],
)
def test_a_domain_to_pass_mail_on_for_needs_a_route_of_its_own(text: str, said: str) -> None:
    (fault,) = faults_in(RELAY + text)
    assert fault.startswith("folder/posthouse.toml:3: ")
    assert said in fault


def test_a_domain_is_here_or_behind() -> None:
    (fault,) = faults_in(f'{RELAY}domains = "corp.example"\n[routes]\n"corp.example" = "smtp://10.0.0.5:25"\n')
    assert "found corp.example among mail.domains" in fault


def test_who_passes_mail_on_has_a_name() -> None:
    (fault,) = faults_in('[mail]\nrelay_domains = "c.example"\n[routes]\n"c.example" = "smtp://10.0.0.5:25"\n')
    assert "expected mail.hostname or outgoing.name for mail that is passed on, found neither of them" in fault


def test_mail_leaves_under_the_name_of_the_doors_where_it_has_no_other() -> None:
    assert terms_of(settle([flag("mail.hostname=mx.one.example")]).settings).mailing.name == "mx.one.example"
    both = [flag("mail.hostname=mx.one.example"), flag("outgoing.name=out.one.example")]
    assert terms_of(settle(both).settings).mailing.name == "out.one.example"
