"""Settings read again while the office runs: what can change at once does, the rest is named, faults change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
import structlog

from posthouse.errors import PosthouseError
from posthouse.office.calls import Reload, Reloaded
from posthouse.server.certificate import Certificate
from posthouse.server.log import write_log
from posthouse.server.settings import Settings, values
from posthouse.server.web import Site, bounds_of, limits_of

AT_ONCE: Final = frozenset({
    "log.level", "log.form", "http.tls_certificate", "http.tls_key", "http.body_bytes", "http.request_seconds",
    "http.answer_seconds", "http.idle_seconds", "http.connections", "http.key_requests", "http.stranger_requests",
    "http.burst_seconds", "http.status_open",
})  # fmt: skip
"""What changes without a restart."""

_log = structlog.get_logger("posthouse.server")


class Reloader:
    """Knows the settings in force, and puts others in their place."""

    def __init__(
        self, settings: Settings, site: Site, *, read: Callable[[], Settings], renew: Callable[[], None] | None = None
    ) -> None:
        self._settings = settings
        self._site = site
        self._read = read
        self._renew = renew

    async def reload(self, _call: Reload) -> Reloaded:
        """Read the settings again and put in force what can be."""
        try:
            wanted = self._read()
            certificate = self._checked(wanted)
            if self._renew is not None:
                # The doors for mail take up new files of the old names; where they are no good, nothing changes.
                self._renew()
        except ExceptionGroup as faults:
            return self._refused([str(fault) for fault in faults.exceptions])
        except PosthouseError as fault:
            return self._refused([str(fault)])
        before = dict(values(self._settings))
        differing = [name for name, value in values(wanted) if before.get(name) != value]
        differing += [name for name in before if name not in dict(values(wanted))]
        later = [name for name in differing if name not in AT_ONCE or self._is_about_tls_itself(name, wanted)]
        self._put_in_force(wanted, certificate)
        found = Reloaded(changed=[name for name in differing if name not in later], later=later, faults=[])
        _log.info("settings.reloaded", changed=found.changed, later=found.later)
        return found

    def _checked(self, wanted: Settings) -> Certificate | None:
        """Give the certificate in use, once it is known that what is wanted will do."""
        listener = self._site.listener
        if listener is None or listener.certificate is None or not wanted.http.tls_certificate:
            return None
        Certificate(wanted.http)
        return listener.certificate

    def _is_about_tls_itself(self, name: str, wanted: Settings) -> bool:
        """Say whether a setting turns TLS on or off, which open sockets cannot do."""
        turned = bool(wanted.http.tls_certificate) != bool(self._settings.http.tls_certificate)
        return turned and name in ("http.tls_certificate", "http.tls_key")

    def _put_in_force(self, wanted: Settings, certificate: Certificate | None) -> None:
        write_log(wanted.log)
        if certificate is not None:
            certificate.renew(wanted.http)
        self._site.front.watch.bounds = bounds_of(wanted.http, listen=self._settings.http.listen)
        if self._site.listener is not None:
            self._site.listener.limits = limits_of(wanted.http)
        self._settings = _in_force(self._settings, wanted, certificate)

    def _refused(self, faults: list[str]) -> Reloaded:
        _log.error("settings.refused", faults=faults)
        return Reloaded(changed=[], later=[], faults=faults)


def _in_force(old: Settings, wanted: Settings, certificate: Certificate | None) -> Settings:
    """Give the settings that hold now: what waits for a restart is as it was, so that it is named again next time."""
    now = dict(values(wanted))
    names = AT_ONCE if certificate is not None else AT_ONCE - {"http.tls_certificate", "http.tls_key"}
    http = {name.partition(".")[2]: now[name] for name in names if name.startswith("http.")}
    log = {name.partition(".")[2]: now[name] for name in names if name.startswith("log.")}
    return msgspec.structs.replace(
        old, http=msgspec.structs.replace(old.http, **http), log=msgspec.structs.replace(old.log, **log)
    )
