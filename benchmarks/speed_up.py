"""One thread and two: the seconds of each step of a check, judged again from the same seed.

    python -m benchmarks speed_up

The people of `size` in one workspace, so that both runs mask and attack alike; that they write the same bytes and find
the same is a test (`tests/flows/test_real_data.py`). Reading, typing and writing are done by one thread in any case.
"""

import tempfile
from pathlib import Path

from benchmarks.size import build, run
from deployments.data import FetchError


def main(quick: bool = False) -> None:
    """Print the seconds of each step by one and by two, and the ratio."""
    size = 20_000 if quick else 400_000
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        try:
            build(home / "people.duckdb", size)
        except FetchError as error:
            print(f"left out. {error}")
            return
        run(home, size, threads=2)  # which compiles, and draws the seed
        one, two = (run(home, size, threads=number)["rows"] for number in (1, 2))
    print(f"{size:,} records\n{'':<16} {'one':>8} {'two':>8} {'speed-up':>9}")
    both = [(name, by_one, by_two) for (name, by_one, *_), (_, by_two, *_) in zip(one, two, strict=True)]
    for name, by_one, by_two in [*both, ("in all", sum(row[1] for row in both), sum(row[2] for row in both))]:
        print(f"{name:<16} {by_one:>8.1f} {by_two:>8.1f} {by_one / max(by_two, 0.01):>9.2f}")


if __name__ == "__main__":
    main()
