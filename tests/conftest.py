"""How the suite runs: tests may be coroutines, seeds are shown, and in CI a missing service is a failure."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import platform
from collections.abc import Callable, Coroutine, Generator
from importlib.metadata import version
from typing import Any

import apsw
import hypothesis
import pytest
import uvloop

# Two cores are shared with whatever else runs: a slow example says nothing about the code.
hypothesis.settings.register_profile("house", deadline=None, print_blob=True)
hypothesis.settings.register_profile("hunt", deadline=None, print_blob=True, max_examples=50_000)
hypothesis.settings.load_profile("house")

DEADLINE_S = 60.0
"""How long a coroutine test may take; one marked `timeout(seconds)`, or a run given `--timeout`, has nine tenths of
that, so that the test gives up by itself, with its own traceback, before the alarm of pytest-timeout."""


def pytest_report_header() -> str:
    load = " ".join(f"{figure:.1f}" for figure in os.getloadavg())
    return (
        f"posthouse: {platform.python_implementation()} {platform.python_version()}, "
        f"apsw {apsw.apsw_version()} with SQLite {apsw.sqlite_lib_version()}, uvloop {version('uvloop')}, "
        f"{os.cpu_count()} cores, load {load}"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run `async def test_...`, also under hypothesis, each in a fresh loop of the kind the server uses."""
    test = pyfuncitem.obj
    deadline = _deadline_of(pyfuncitem)
    generated = getattr(test, "hypothesis", None)
    if generated is not None and inspect.iscoroutinefunction(generated.inner_test):
        generated.inner_test = _run_plainly(generated.inner_test, deadline)
        return None
    if not inspect.iscoroutinefunction(test):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(test).parameters}
    _run_plainly(test, deadline)(**arguments)
    return True


def _deadline_of(item: pytest.Function) -> float:
    marker = item.get_closest_marker("timeout")
    if marker is not None:
        return 0.9 * float(marker.args[0] if marker.args else marker.kwargs["timeout"])
    given = item.config.getoption("--timeout", default=None)
    return 0.9 * float(given) if given is not None else DEADLINE_S


# The arguments are whatever the test's fixtures or strategies give: nothing to be typed here.
def _run_plainly(test: Callable[..., Coroutine[Any, Any, None]], deadline: float) -> Callable[..., None]:
    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        async def within_deadline() -> None:
            async with asyncio.timeout(deadline):
                await test(*args, **kwargs)

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(within_deadline())

    return run


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI, where every service must be present, turn the skip of a test marked `service(name)` into a failure."""
    report = yield
    service = item.get_closest_marker("service")
    if report.skipped and not hasattr(report, "wasxfail") and service is not None and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"service {service.args[0]!r} is missing, and CI must have it: {report.longrepr}"
    return report
