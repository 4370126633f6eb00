"""What Prefect must be told before it is imported: no telemetry, and a home of its own unless the user has one.

Importing this module sets environment variables; everything in `flows` imports it first.
"""

import flows.kernel_cache  # noqa: F401  isort: skip  (before anything that imports numba)

import os
from pathlib import Path

os.environ.setdefault("DO_NOT_TRACK", "1")
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "90")
if "PREFECT_API_URL" not in os.environ:
    # The command line tells of a failure itself, in words instead of a traceback.
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "CRITICAL")
if "PREFECT_HOME" not in os.environ and "PREFECT_API_URL" not in os.environ:
    home = Path(os.environ.get("SLUICE_HOME", ".sluice")).resolve() / "prefect"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.environ["PREFECT_HOME"] = str(home)
