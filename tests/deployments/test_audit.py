"""`make audit`: a vulnerability fails it, a service that cannot be reached does not, and neither is passed over."""

import json
from pathlib import Path
from typing import Any

import pytest

from deployments import audit
from deployments.audit import LOCKS, main, summary
from tests.golden import golden

pytestmark = pytest.mark.servers

SOUND: dict[str, Any] = {"name": "rich", "version": "15.0.0", "vulns": []}
SKIPPED: dict[str, Any] = {"name": "jinja2", "skip_reason": "Dependency not found on PyPI and could not be audited"}
FLAW = {"id": "PYSEC-2026-1", "fix_versions": ["2.1"], "aliases": ["CVE-2026-1"], "description": "It runs anything."}
FLAWED: dict[str, Any] = {"name": "yaml", "version": "2.0", "vulns": [FLAW, {"id": "PYSEC-2", "fix_versions": []}]}


def program(tmp_path: Path, output: str, code: int, error: str = "") -> Path:
    """A pip-audit that says this of each lock."""
    path = tmp_path / "pip-audit"
    path.write_text(f"#!/bin/sh\necho '{error}' >&2\ncat <<'EOF'\n{output}\nEOF\nexit {code}\n")
    path.chmod(0o755)
    return path


def test_each_vulnerability_is_named_with_the_version_that_mends_it() -> None:
    lines, sound = summary([SOUND, FLAWED])
    assert not sound
    assert lines == [
        "yaml 2.0: PYSEC-2026-1; mended in 2.1",
        "yaml 2.0: PYSEC-2; mended in no version yet",
        "2 of 2 pinned packages audited; 1 with known vulnerabilities.",
    ]


@pytest.mark.parametrize(
    ("packages", "code"),
    [
        ([SOUND], 0),  # of each of two locks
        ([SOUND, FLAWED], 1),
        ([SOUND, SKIPPED], 0),
    ],
)
def test_only_a_vulnerability_fails(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    packages: list[dict[str, Any]],
    code: int,
) -> None:
    monkeypatch.setattr(audit, "LOCKS", LOCKS[:2])
    assert main(program(tmp_path, json.dumps({"dependencies": packages}), code)) == code
    golden(capsys.readouterr().out)


def test_without_a_network_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(program(tmp_path, "", 1, "requests.exceptions.ProxyError: refused")) == 0
    assert main(tmp_path / "absent") == 0
    said = capsys.readouterr().out
    assert len(said.splitlines()) == 2
    golden(said)


def test_an_audit_that_breaks_is_no_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(program(tmp_path, "", 1, "ERROR: package rich has duplicate requirements")) == 1
    assert "duplicate requirements" in capsys.readouterr().out
