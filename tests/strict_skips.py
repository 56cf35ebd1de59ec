"""Under CI a test that was skipped counts as failed, unless its reason says that it is allowed."""

from __future__ import annotations

import os

import pytest

ALLOWED = "allowed:"


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the reason of a skip as it was written, without pytest's ``Skipped: `` before it."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


class StrictSkips:
    """Collects the skips of a run that are not allowed, and turns the run red for them."""

    def __init__(self) -> None:
        self.refused: list[str] = []

    def _look_at(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        expected = hasattr(report, "wasxfail")
        if report.skipped and not expected and not reason_of(report).startswith(ALLOWED):
            self.refused.append(f"{report.nodeid}: {reason_of(report)}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._look_at(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._look_at(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.refused and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.refused:
            terminalreporter.section("skipped in CI, which counts as failed", red=True)
            for line in self.refused:
                terminalreporter.line(line)


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI") == "true":
        config.pluginmanager.register(StrictSkips(), "strict-skips-run")
