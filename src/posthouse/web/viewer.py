"""Who looks at the status page and the metrics: whoever administers the office, and others where it is open to them."""

from __future__ import annotations

from typing import NamedTuple

from posthouse.office.permission import NotPermitted
from posthouse.office.permit import Permit
from posthouse.web.admission import known_permit, permit_of
from posthouse.web.asgi import Scope
from posthouse.web.front import Front
from posthouse.web.openness import is_open
from posthouse.web.session import Session


class Viewer(NamedTuple):
    """Who looks, and what they may do there."""

    permit: Permit | None = None
    """None for one who may look and touch nothing."""
    session: Session | None = None


def viewer_of(front: Front, scope: Scope) -> Viewer | None:
    """Say who looks; None where they have to sign in first."""
    found = front.sessions.find(scope)
    if found is not None:
        session, permit = found
        return Viewer(permit, session)
    shown = known_permit(scope)
    if shown is not None and shown.administers:
        return Viewer(shown)
    bounds = front.watch.bounds
    return Viewer() if is_open(bounds.status_open, scope, on_loopback=bounds.on_loopback) else None


def check_viewer(front: Front, scope: Scope) -> Viewer:
    """Say who looks; raises what says that they may not."""
    viewer = viewer_of(front, scope)
    if viewer is None:
        permit_of(scope)
        raise NotPermitted(
            "the key does not permit to see how the office is", hint="that needs a key with the scope `administer`"
        )
    return viewer
