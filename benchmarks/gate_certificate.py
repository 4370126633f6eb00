"""How right the verdicts are: releases whose truth attacks set, by shipped policies; bad that pass, good that stop.

`python -m benchmarks gate_certificate` plays the whole design, about two hours of one processor; `--quick` a part of
it in about ten. `python -m benchmarks.gate_certificate --help` has choices. Each release that was judged is a line of
`--out`, and a run that was interrupted goes on there. `--table FILE ...` prints what such files say, one after the
other, as it stands in docs/reference-standard.md.

A release is bad under a policy when an attack of `tests/red_team/battery.py` surely reaches more than the policy lets
an intruder reach, on people whom it has not learned from; good when it surely does not, played on up to ten draws of
the same release from other people. What is neither is counted by itself. What is measured of use decides nothing here.

The design is a fraction: each kind, strength and population once, of one size and under one policy in turn.
"""

import argparse
import json
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import process_time
from zlib import crc32

import numpy as np

from benchmarks.gate_editions import EDITIONS, judged_editions
from benchmarks.gate_releases import POPULATIONS, SORTS, Sort
from policies.policy import Policy, load_policy
from sluice.ground.errors import SluiceError
from sluice.ground.verdict import Finding, Verdict, decide
from tests.red_team.battery import Reaches, battery, beyond, figures, within
from tests.red_team.case import judge

SIZES = (300, 1_000, 3_000, 10_000, 30_000)
OUT = Path("gate_certificate.jsonl")
_DRAWS = {300: 10, 1_000: 10, 3_000: 5, 10_000: 2, 30_000: 1}
_MOST = {
    "adult": 30_000, "census-income": 30_000, "nhanes": 10_000, "diabetes": 30_000, "firms": 3_000,
    "households": 3_000, "stays": 10_000, "tax": 1_000,
}  # fmt: skip
_TO_THE_LETTER = {"sample_uniques_share", "k_anonymity", "l_diversity", "t_closeness", "reference_size"}
_NEAR = 0.02  # the gate's figure off the attacks' interval
_POLICIES = Path(__file__).parents[1] / "policies"


@dataclass(frozen=True)
class Cell:
    """One release of the design."""

    sort: str
    strength: int
    data: str
    size: int
    policy: str

    @property
    def id(self) -> str:
        return f"{self.sort}/{self.strength}/{self.data}/{self.size}/{self.policy}"

    @property
    def seed(self) -> int:
        return crc32(self.id.encode())


@dataclass
class Judged:
    """A line of the file: what attacks reach, and what the gate said."""

    cell: Cell
    meant_good: bool
    truth: str
    reaches: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    beyond: list[str] = field(default_factory=list)
    verdict: str = ""
    stopped_by: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    seconds_of_truth: float = 0.0


def design(sizes: Sequence[int] = SIZES) -> list[Cell]:
    """In an order in which every beginning holds something of all."""
    cells = []
    for place, sort in enumerate(SORTS):
        for at, data in enumerate(sort.data):
            for strength in range(3):
                fitting = [size for size in SIZES if size <= _MOST[data] and size >= _least(sort)]
                size = fitting[(place + 2 * at + strength) % len(fitting)]
                policy = sort.policies[(at + strength) % len(sort.policies)]
                if size < 1_000 and policy == "public-use-file":
                    policy = "small-file"
                elif data == "firms" and "public-use-file" in sort.policies:
                    policy = "public-use-business"
                cells.append(Cell(sort.name, strength, data, size, policy))
    cells += [Cell(name, strength, data, size, policy) for name, strength, data, size, policy in EDITIONS]
    return sorted((cell for cell in cells if cell.size in sizes), key=lambda cell: crc32(f"order {cell.id}".encode()))


def _least(sort: Sort) -> int:
    """Below which a release of this kind cannot be made: a tenth of the people are to be a group of a hundred."""
    return 1_000 if sort.name == "one small group" else 300


def run(cells: Iterable[Cell], out: Path, truths: dict[str, Judged], seconds: float = np.inf) -> None:
    """Judge what is not yet in `out`, until so many CPU seconds have passed.

    truths : what attacks reached before, by the cell's id, where the releases are the same and only the gate is another
    """
    done = {each.cell.id for each in read([out])} if out.exists() else set()
    begun = process_time()
    for cell in cells:
        if cell.id in done:
            continue
        if process_time() - begun > seconds:
            break
        judged = judged_cell(cell, truths.get(cell.id))
        with out.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(judged)) + "\n")
        print(f"{judged.truth:7} {judged.verdict:8} {cell.id} {', '.join(judged.stopped_by[:4])}", flush=True)


def judged_cell(cell: Cell, known: Judged | None = None) -> Judged:
    """Make the release, play the attacks, and judge it."""
    policy = load_policy(_POLICIES / f"{cell.policy}.yaml")
    if cell.sort in {name for name, *_ in EDITIONS}:
        return _of_editions(cell)
    sort = next(each for each in SORTS if each.name == cell.sort)
    population, begun = POPULATIONS[cell.data](), process_time()
    try:
        release = sort.make(population, cell.size, cell.strength, cell.seed)
    except (SluiceError, ValueError) as error:
        return Judged(cell, sort.good, "refused", stopped_by=[type(error).__name__])
    if known is None:
        reaches = _reaches(cell, sort, policy)
        bad = beyond(policy, reaches)
        truth = "bad" if bad else "good" if within(policy, reaches) else "unclear"
        shown = {aim: (each.share, *each.interval) for aim, each in reaches.items()}
        known = Judged(cell, sort.good, truth, shown, [each.aim for each in bad])
    middle = process_time()
    findings = list(judge(release.judged, policy))
    stops = [each for each in findings if each.binding and each.verdict is not Verdict.PASS]
    return Judged(
        cell, sort.good, known.truth, known.reaches, known.beyond, decide(findings).name,
        list(dict.fromkeys(f"{each.rule} {each.verdict.name}" for each in stops)), figures(findings),
        round(process_time() - middle, 2), round(middle - begun, 2),
    )  # fmt: skip


def _reaches(cell: Cell, sort: Sort, policy: Policy) -> Reaches:
    """Of the very file, and of others made likewise of other people until it is plain what the attacks reach."""
    population = POPULATIONS[cell.data]()
    standard = policy.reference_standard
    known = sorted(
        {each.knows.any for each in standard.intruders if not isinstance(each.knows, str)} if standard else {5}
    )
    reaches: Reaches = {}
    for draw in range(_DRAWS[cell.size]):
        made = sort.make(population, cell.size, cell.strength, cell.seed + draw)
        more = battery(made.truth, known, draw, made.unit, made.key)
        if draw == 0:
            reaches = more
        else:
            reaches = {a: r if a.endswith("minority") else r + more[a] for a, r in reaches.items() if a in more}
        if beyond(policy, reaches) or within(policy, reaches):
            break
    return reaches


def _of_editions(cell: Cell) -> Judged:
    begun = process_time()
    played = judged_editions(cell.sort, cell.strength, cell.data, cell.size, cell.policy, cell.seed)
    return Judged(
        cell, played.meant_good, played.truth, {"subtracted": played.reach}, ["subtracted"] * (played.truth == "bad"),
        decide(played.findings).name, _stops(played.findings), {}, round(process_time() - begun, 2), 0.0,
    )  # fmt: skip


def _stops(findings: Sequence[Finding]) -> list[str]:
    stops = [each for each in findings if each.binding and each.verdict is not Verdict.PASS]
    return list(dict.fromkeys(f"{each.rule} {each.verdict.name}" for each in stops))


def read(paths: Sequence[Path]) -> Iterator[Judged]:
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            content = json.loads(line)
            yield Judged(**(content | {"cell": Cell(**content["cell"])}))


# -- the table ------------------------------------------------------------


def table(judged: Sequence[Judged]) -> str:
    """By policy, what passed and should not, what was stopped and should have passed, and how near the figures are."""
    lines = [
        "| policy | bad | of these pass | good, from 3,000 people | of these stopped | good, fewer people | of these "
        "stopped | neither | figures beside those of the attacks | CPU s |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for policy in [*sorted({each.cell.policy for each in judged}), ""]:
        mine = [each for each in judged if policy in (each.cell.policy, "") and each.truth != "refused"]
        large, small = (
            [each for each in mine if each.truth == "good" and (each.cell.size >= 3_000) is is_large]
            for is_large in (True, False)
        )
        off, bad = _off(mine), [each for each in mine if each.truth == "bad"]
        near = f"{np.mean(np.abs(off) < _NEAR):.0%} of {len(off)} within {_NEAR:.0%}" if off else ""
        cells = [
            f"`{policy}`" if policy else "all", *_counted(bad, "PASS"), *_counted(large, ""), *_counted(small, ""),
            f"{sum(each.truth == 'unclear' for each in mine)}", near, f"{np.median([e.seconds for e in mine]):.1f}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def by_size(judged: Sequence[Judged]) -> str:
    """The same by the number of people."""
    lines = ["| people | bad | of these pass | good | of these stopped | CPU s |", "|---|---|---|---|---|---|"]
    for size in SIZES:
        mine = [each for each in judged if each.cell.size == size and each.truth != "refused"]
        bad, good = ([each for each in mine if each.truth == truth] for truth in ("bad", "good"))
        seconds = f"{np.median([each.seconds for each in mine]):.1f}" if mine else ""
        lines.append(f"| {size:,} | {' | '.join([*_counted(bad, 'PASS'), *_counted(good, '')])} | {seconds} |")
    return "\n".join(lines)


def _counted(judged: Sequence[Judged], wrong: str) -> tuple[str, str]:
    """How many, and how many with the wrong verdict; of stopped ones, how many by nothing but a count."""
    missed = [each for each in judged if (each.verdict == "PASS") is (wrong == "PASS")]
    letter = sum({each.split()[0] for each in one.stopped_by} <= _TO_THE_LETTER for one in missed) if not wrong else 0
    return f"{len(judged)}", f"{len(missed)}" + (f" ({letter} by a count alone)" if letter else "")


def _off(judged: Sequence[Judged]) -> list[float]:
    """What the gate's figures are above those of the attacks; what lies within the attacks' interval is right."""
    found = []
    for each in judged:
        for aim, figure in each.figures.items():
            if aim in each.reaches:
                _, low, high = each.reaches[aim]
                found.append(figure - low if figure < low else figure - high if figure > high else 0.0)
    return found


def by_kind(judged: Sequence[Judged]) -> str:
    """By kind of release, the bad and good ones; the kinds with a wrong verdict, and of which populations these are."""
    lines = ["| kind | bad | of these pass | good | of these stopped | wrong verdicts |", "|---|---|---|---|---|---|"]
    for sort in dict.fromkeys(each.cell.sort for each in sorted(judged, key=lambda each: each.meant_good)):
        mine = [each for each in judged if each.cell.sort == sort]
        bad, good = ([each for each in mine if each.truth == truth] for truth in ("bad", "good"))
        wrong = [each for each in bad if each.verdict == "PASS"] + [each for each in good if each.verdict != "PASS"]
        where = ", ".join(sorted({f"{each.cell.data} {each.cell.size:,}" for each in wrong}))
        if wrong:
            lines.append(f"| {sort} | {' | '.join([*_counted(bad, 'PASS'), *_counted(good, '')])} | {where} |")
    return "\n".join(lines)


def main(quick: bool = False, arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gate_certificate", description=__doc__)
    parser.add_argument("--quick", action="store_true", default=quick, help="a part of the design, of small files")
    parser.add_argument("--policy", nargs="*", help="only under these")
    parser.add_argument("--data", nargs="*", choices=sorted(POPULATIONS), help="only of these populations")
    parser.add_argument("--kind", nargs="*", help="only of these kinds")
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES, help="only of so many people")
    parser.add_argument("--seconds", type=float, default=np.inf, help="begin nothing after so many CPU seconds")
    parser.add_argument("--out", type=Path, default=OUT, help="a line a release; a run goes on where the file ends")
    parser.add_argument("--truths", type=Path, help="the file of a run on the same releases, whose attacks count again")
    parser.add_argument("--table", nargs="*", type=Path, help="judge nothing; print what these files say")
    given = parser.parse_args(list(arguments))
    if given.table:
        for path in given.table:
            judged = list(read([path]))
            tables = table(judged), by_size(judged), by_kind(judged)
            print(f"\n{path.stem}: {len(judged)} releases", *tables, sep="\n\n")
        return
    cells = [
        cell
        for cell in design([size for size in given.sizes if size <= 3_000] if given.quick else given.sizes)
        if (not given.policy or cell.policy in given.policy)
        and (not given.data or cell.data in given.data)
        and (not given.kind or cell.sort in given.kind)
    ]
    truths = {each.cell.id: each for each in read([given.truths])} if given.truths else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of models that did not converge: a weaker attack
        run(cells[:_QUICK] if given.quick else cells, given.out, truths, given.seconds)
    print(f"\n{table(list(read([given.out])))}")


_QUICK = 100

if __name__ == "__main__":
    import sys

    main(arguments=sys.argv[1:])
