"""`make audit`: the pinned packages held against the known vulnerabilities, by pip-audit.

Without a network, or where a mirror knows no vulnerabilities, it says how many packages nobody looked at. That is no
failure: a laptop in a train may lint. A known vulnerability is one.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOCKS = tuple(f"locks/{path.name}" for path in sorted((ROOT / "locks").glob("*.lock")) if path.name != "peers.lock")
_OPTIONS = ("--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off", "--timeout", "10")
_OFFLINE = re.compile(r"requests\.exceptions\.|urllib3\.exceptions\.|[Cc]onnection|[Tt]imed out")
_UNREACHED = "no service with known vulnerabilities could be reached"


def summary(packages: list[dict[str, Any]]) -> tuple[list[str], bool]:
    """What reports of pip-audit say of their packages, in lines, and whether none is known to be vulnerable."""
    skipped = sum("skip_reason" in package for package in packages)
    lines = [
        f"{package['name']} {package['version']}: {flaw['id']}; mended in "
        f"{', '.join(flaw['fix_versions']) or 'no version yet'}"
        for package in packages
        for flaw in package.get("vulns", ())
    ]
    vulnerable = sum(bool(package.get("vulns")) for package in packages)
    audited = len(packages) - skipped
    lines.append(f"{audited} of {len(packages)} pinned packages audited; {vulnerable} with known vulnerabilities.")
    if skipped:
        lines.append(f"NOT audited: {skipped}; {_UNREACHED}, or it does not know them.")
    return lines, not vulnerable


def main(pip_audit: Path) -> int:
    """Audit the locks by this program; returns the exit code."""
    if not pip_audit.exists():
        print("The pinned packages were NOT audited: pip-audit is not installed. Is there a network? Then: make audit")
        return 0
    packages: list[dict[str, Any]] = []
    for lock in LOCKS:
        run = subprocess.run(
            [str(pip_audit), "--requirement", str(ROOT / lock), *_OPTIONS], capture_output=True, text=True, check=False
        )
        try:
            packages += json.loads(run.stdout)["dependencies"]
        except ValueError:
            if _OFFLINE.search(run.stderr):
                print(f"The pinned packages were NOT audited: {_UNREACHED}.")
                return 0
            print(f"pip-audit failed on {lock}:\n{run.stderr}")
            return 1
    lines, sound = summary(packages)
    print("\n".join(lines))
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
