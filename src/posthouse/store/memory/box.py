"""One box: its entries in order of arrival, what they add up to, and the views its takes choose from."""

from __future__ import annotations

from posthouse.message.changes import Filter
from posthouse.store.memory.lane import View
from posthouse.store.memory.row import Roll, Row


class Talk:
    """The entries of one correlation; most are few and never asked for, so their views are made on demand."""

    __slots__ = ("_views", "rows")

    def __init__(self) -> None:
        self.rows: Roll[Row] = Roll()
        self._views: dict[str | None, View] = {}

    def add(self, row: Row) -> None:
        self.rows.append(row)
        for kind, view in self._views.items():
            if kind in (None, row.entry.kind):
                row.lanes += (view.add(row),)

    def view(self, kind: str | None) -> View:
        """Give the view of one kind of these entries, or of all."""
        view = self._views.get(kind)
        if view is None:
            view = self._views[kind] = View()
            for row in self.rows.since(0):
                if kind in (None, row.entry.kind):
                    row.lanes += (view.add(row),)
        return view


class Box:
    """The entries of one mailbox or destination."""

    __slots__ = ("_talks", "_views", "bytes", "errands", "rows")

    def __init__(self) -> None:
        self.rows: Roll[Row] = Roll()
        self.bytes = 0
        self.errands = 0
        """Entries for postmen: to deliver or to resume."""
        # By kind; under None that of all entries.
        self._views: dict[str | None, View] = {}
        self._talks: dict[str, Talk] = {}

    def add(self, row: Row) -> None:
        """Take in a row with a number above all others."""
        self.rows.append(row)
        self.bytes += row.entry.size
        self.errands += row.entry.work != "take"
        if row.state != "held":
            self._enter(row)

    def remove(self, row: Row) -> None:
        self.rows.remove(row)
        self.bytes -= row.entry.size
        self.errands -= row.entry.work != "take"
        if row.state != "held":
            self._leave(row)

    def choose(self, chosen: Filter, *, now: int, limit: int) -> list[Row]:
        """Give the rows a take leases, in their order."""
        view = self._view(chosen)
        if view is not None and now < view.left_behind:
            self._make_views_anew()
            view = self._view(chosen)
        return view.choose(now, limit) if view is not None else []

    def _view(self, chosen: Filter) -> View | None:
        if chosen.correlation is None:
            return self._views.get(chosen.kind)
        talk = self._talks.get(chosen.correlation)
        return talk.view(chosen.kind) if talk is not None else None

    def _enter(self, row: Row) -> None:
        kind, correlation = row.entry.kind, row.entry.correlation
        views = self._views
        if kind not in views:
            views.setdefault(None, View())
            views[kind] = View()
        row.lanes = (views[None].add(row), views[kind].add(row))
        if correlation is not None:
            talk = self._talks.get(correlation)
            if talk is None:
                talk = self._talks[correlation] = Talk()
            talk.add(row)

    def _leave(self, row: Row) -> None:
        for lane in row.lanes:
            lane.leave(row)
        row.lanes = ()
        if not self._views[row.entry.kind].lanes:
            del self._views[row.entry.kind]
        correlation = row.entry.correlation
        if correlation is not None:
            talk = self._talks[correlation]
            talk.rows.remove(row)
            if not talk.rows.present:
                del self._talks[correlation]

    def _make_views_anew(self) -> None:
        # The clock was set back: rows that had expired have not, and stand before those that came later.
        self._views, self._talks = {}, {}
        for row in self.rows.since(0):
            if row.state != "held":
                self._enter(row)
