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
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from tests.red_team.battery import battery, beyond, figures, within
from tests.red_team.case import judge
from tests.red_team.reach import Reaches

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


Runs = Sequence[Sequence[Judged]]
"""Judgements of the same releases by one commit or several, the earliest first."""


def table(runs: Runs) -> str:
    """By policy, what passed and should not, what was stopped and should have passed, and how near the figures are."""
    lines = [
        "| policy | bad | of these pass | good, 3,000 people and more | of these stopped | good, fewer people "
        "| of these stopped | neither | figures near | CPU s |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for policy in [*sorted({each.cell.policy for each in runs[0]}), ""]:
        mine = _of(runs, lambda each, policy=policy: policy in (each.cell.policy, ""))  # type: ignore[misc]
        cells = [
            f"`{policy}`" if policy else "all", *_counted(mine, "bad"),
            *_counted(_of(mine, lambda each: each.cell.size >= 3_000), "good"),
            *_counted(_of(mine, lambda each: each.cell.size < 3_000), "good"),
            f"{sum(each.truth == 'unclear' for each in mine[0])}", _arrow([_near(run) for run in mine]),
            _arrow([f"{np.median([each.seconds for each in run]):.1f}" for run in mine]),
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def by_size(runs: Runs) -> str:
    """The same by the number of people."""
    lines = ["| people | bad | of these pass | good | of these stopped |", "|---|---|---|---|---|"]
    for size in SIZES:
        mine = _of(runs, lambda each, size=size: each.cell.size == size)  # type: ignore[misc]
        if mine[0]:
            lines.append(f"| {size:,} | {' | '.join([*_counted(mine, 'bad'), *_counted(mine, 'good')])} |")
    return "\n".join(lines)


def by_kind(runs: Runs) -> str:
    """By kind of release; the kinds with a wrong verdict, and of which populations those of the last run are."""
    lines = ["| kind | bad | of these pass | good | of these stopped | wrong now |", "|---|---|---|---|---|---|"]
    for sort in dict.fromkeys(each.cell.sort for each in sorted(runs[0], key=lambda each: each.meant_good)):
        mine = _of(runs, lambda each, sort=sort: each.cell.sort == sort)  # type: ignore[misc]
        wrong = [[each for each in run if _is_wrong(each)] for run in mine]
        if any(wrong):
            where = ", ".join(sorted({f"{each.cell.data} {each.cell.size:,}" for each in wrong[-1]}))
            lines.append(f"| {sort} | {' | '.join([*_counted(mine, 'bad'), *_counted(mine, 'good')])} | {where} |")
    return "\n".join(lines)


def _of(runs: Runs, which: Callable[[Judged], bool]) -> Runs:
    return [[each for each in run if each.truth != "refused" and which(each)] for run in runs]


def _is_wrong(judged: Judged) -> bool:
    return judged.truth == ("bad" if judged.verdict == "PASS" else "good")


def _counted(runs: Runs, truth: str) -> tuple[str, str]:
    """How many there are, and how many of them were judged wrongly; of good ones, how many by nothing but a count."""
    mine = [[each for each in run if each.truth == truth] for run in runs]
    told = []
    for run in mine:
        wrong = [each for each in run if _is_wrong(each)]
        letter = sum(all(_is_count(each) for each in one.stopped_by) for one in wrong)
        told.append(f"{len(wrong)}" + (f" ({letter} by a count alone)" if letter and truth == "good" else ""))
    return f"{len(mine[0])}", _arrow(told)


def _is_count(stop: str) -> bool:
    """Whether too few people, or a rule on groups, stopped it by its letter."""
    rule, verdict = stop.split()
    return rule in _TO_THE_LETTER or verdict == "UNKNOWN"


def _arrow(told: Sequence[str]) -> str:
    return " → ".join(told if len(set(told)) > 1 else told[:1])


def _near(judged: Sequence[Judged]) -> str:
    """Of the gate's figures that stand beside those of attacks, the share that lies in or near their interval."""
    near = [
        low - _NEAR <= figure <= high + _NEAR
        for each in judged
        for aim, figure in each.figures.items()
        if aim in each.reaches
        for _, low, high in [each.reaches[aim]]
    ]
    return f"{np.mean(near):.0%}" if near else ""


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
    parser.add_argument(
        "--table", nargs="*", type=Path, help="judge nothing; print what these runs say, the earliest first"
    )
    given = parser.parse_args(list(arguments))
    if given.table:
        judged = [{each.cell.id: each for each in read([path])} for path in given.table]
        ids = [each for each in judged[0] if all(each in run for run in judged)]
        runs = [[run[each] for each in ids] for run in judged]
        print(f"{len(ids)} releases", table(runs), by_size(runs), by_kind(runs), sep="\n\n")
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
    print(f"\n{table([list(read([given.out]))])}")


_QUICK = 100

if __name__ == "__main__":
    import sys

    main(arguments=sys.argv[1:])
