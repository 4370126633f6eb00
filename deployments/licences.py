"""`make licences`: what each package that is installed for releases says of its licence, the commonest licence first.

Asked is the package's own metadata: the expression of SPDX (PEP 639), the classifiers, or the first line of the
licence's text. Nothing is judged; a package that says nothing is named, and fails it.
"""

import sys
from collections import defaultdict
from importlib.metadata import Distribution, distributions


def licence(package: Distribution) -> str:
    """What a package says of its licence; empty where it says nothing."""
    told = package.metadata
    if expression := told.get("License-Expression"):
        return str(expression)
    classifiers = [each for each in told.get_all("Classifier") or () if each.startswith("License ::")]
    named = [each.rpartition(" :: ")[2] for each in classifiers if each.count(" :: ") > 1]
    if named:
        return "; ".join(named)
    return next((line.strip() for line in str(told.get("License") or "").splitlines() if line.strip()), "")


def main() -> int:
    """Print them; returns the exit code."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for package in distributions():
        found[licence(package)].append(f"{package.metadata['Name']} {package.version}")
    silent = found.pop("", [])
    for name, packages in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        print(f"{name}: {', '.join(sorted(packages, key=str.casefold))}")
    if silent:
        print(f"Says nothing of its licence: {', '.join(silent)}")
    return bool(silent)


if __name__ == "__main__":
    sys.exit(main())
