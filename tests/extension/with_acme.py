"""What a house does where Acme's distribution is installed: run in a process of its own, which prints what it saw."""

import json
import sys
from pathlib import Path

from sluice.masking.method_catalogue import methods
from tasks.checks import explain
from tests.flows.house import House


def main(folder: Path) -> None:
    house = House(folder / "house")
    check = explain("acme_top")
    seen = {"methods": "acme_floor" in methods(), "advice": check.helps, "source": check.source}
    house.policy["attacks"] = [{"rule": "acme_top", "limit": 0.001}]
    house.write()
    seen["check is not named"] = house.sluice("check", str(house.file)).words
    house.policy["attacks"] = []
    house.definition["plan"].insert(3, {"method": "acme_floor", "columns": ["income"], "base": 1000})
    house.write()
    seen["method is not named"] = house.sluice("check", str(house.file)).words
    house.policy |= {"extensions": ["acme-sluice"], "attacks": [{"rule": "acme_top", "limit": 0.001}]}
    house.write()
    seen["release"] = house.release().code
    seen["approvals"] = [house.approve(who).code for who in ("amara", "jonas")]
    (published,) = house.shelf
    manifest = json.loads((house.target / published / "manifest.json").read_text(encoding="utf-8"))
    seen["versions"] = manifest["versions"]
    seen["plan"] = manifest["plan"]
    print(json.dumps(seen))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
