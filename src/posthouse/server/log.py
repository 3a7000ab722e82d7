"""How the log is written: one line for each event, with its facts, to standard error."""

from __future__ import annotations

import logging
import sys

import structlog
from structlog.typing import Processor

from posthouse.server.settings import LogSettings


def write_log(settings: LogSettings) -> None:
    """Make every log line of this process look as the settings say."""
    for_people = settings.form == "console" or (settings.form == "auto" and sys.stderr.isatty())
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *(_for_people() if for_people else _for_programs()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[settings.level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
    )


def _for_people() -> list[Processor]:
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=24)]


def _for_programs() -> list[Processor]:
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
