"""Run every benchmark: `python -m benchmarks`, or one or some by name; `--quick` for a small version of each."""

import argparse
import pkgutil
from importlib import import_module
from pathlib import Path
from time import perf_counter

import benchmarks


def main() -> None:
    """Each module here that has a `main(quick)`, in alphabetical order."""
    names = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name != "__main__")
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"one or some of {', '.join(names)}; all when none is given")
    parser.add_argument("--quick", action="store_true", help="small data, about three minutes in all")
    given = parser.parse_args()
    if len(given.name) == 2 and given.name[0] in ("corpus", "dictionaries"):  # those that are given their data
        import_module(f"benchmarks.{given.name[0]}").run(Path(given.name[1]))
        return
    for name in given.name:
        if name not in names:
            parser.error(f"no benchmark '{name}'; there are {', '.join(names)}")
    for name in given.name or names:
        module = import_module(f"benchmarks.{name}")
        if not hasattr(module, "main"):
            continue
        print(f"\n== {name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
        begun = perf_counter()
        module.main(quick=given.quick)
        print(f"({perf_counter() - begun:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
