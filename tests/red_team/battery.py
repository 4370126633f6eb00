"""All attacks on one file, each on people it has not learned from: what a benchmark of the gate takes for the truth.

Written apart from the product's measures, as `attacks` and `readings`. Half of the people are known to the intruder,
with their records; an attack and its thresholds are chosen on some of the others, and counted on the rest.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from math import gcd, sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from policies.policy import Policy
from sluice.ground.verdict import Finding
from sluice.risk.classes.k_anonymity import KAnonymity
from sluice.utility.comparison import Comparison
from tests.red_team.attacks import Floats, coded, ranks

Rows = NDArray[np.int64]

_Z = 1.96
_Z_OF_MANY = 3.0  # where one category of several is the worst
_LEARNERS = 4_000
_CHOSEN_ON, _JUDGED = 150, 400  # people
_BY_KEYS = 2_000
_PAIRS = 30_000_000  # of people and records that are scored at most
_MINORITY = 100
_APART = 1e-5  # of a number: who lies nearer shows the same one
_PLAIN_TO_SEE = 0.15  # found among all: whose, needs no telling
_SURE = 0.95  # of a leaf that are alike, from which a value came back


@dataclass(frozen=True)
class Reach:
    """Of so many people so many were reached; one household counts as one where its members are found together."""

    right: float
    people: float
    z: float = _Z
    variance: float | None = None  # of `right`, where that is a difference and no count

    @property
    def share(self) -> float:
        return self.right / self.people if self.people else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's."""
        if not self.people:
            return 0.0, 1.0
        n, z, p = self.people, self.z, min(1.0, max(0.0, self.share))
        if self.variance is not None:
            half = z * sqrt(self.variance + 1.0) / n
            return self.share - half, self.share + half
        middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)

    def __add__(self, other: "Reach") -> "Reach":
        variance = None if self.variance is None else self.variance + (other.variance or 0.0)
        return Reach(self.right + other.right, self.people + other.people, self.z, variance)


Reaches = dict[str, Reach]
_CROWDS = (3, 5, 10)  # people whose keys are published alike, of whom the shipped policies say that nobody is named
_PLAIN = {"distance_linkage": "nearest by keys", "probabilistic_linkage": "most alike by keys"}


def _outside(aim: str, crowd: int) -> str:
    return f"{aim}, outside crowds of {crowd}"


@dataclass(frozen=True)
class Beyond:
    """What attacks reach of a policy's limits."""

    aim: str
    limit: float
    reach: Reach


def limits(policy: Policy) -> dict[str, float]:
    """By aim, the share of the people that the policy lets an intruder reach; an aim that binds nobody is not there."""
    found: dict[str, float] = {}
    standard = policy.reference_standard
    if standard is None:
        return found
    if standard.learned.binding:
        found |= {"found": standard.learned.found, "sure": standard.learned.claims}
    for each in standard.intruders:
        if each.binding and not isinstance(each.knows, str):
            known = each.knows.any
            found |= {f"found by {known}": each.found, f"sure by {known}": each.claims, f"read by {known}": each.gain}
    found["copies"] = standard.copies_excess
    for rule in policy.attacks:
        if rule.binding and rule.rule in _PLAIN:
            alike = getattr(rule, "alike", None)
            aim = _PLAIN[rule.rule] if alike is None else _outside(_PLAIN[rule.rule], alike)
            found[aim] = float(rule.excess)  # type: ignore[attr-defined]
    if standard.reference == "leave_one_out" and "distance" in standard.binding:
        found["nearer"] = standard.margin
    surely = next((limit for aim, limit in found.items() if aim.startswith("sure")), 0.02)
    found |= dict.fromkeys(("together", "key"), surely)
    if any(isinstance(rule, KAnonymity) for rule in policy.rules):
        found["came back"] = surely
    if standard.transparency.binding:
        found["lost values"] = standard.transparency.confident
    if standard.transparency.binding and standard.reference == "holdout":
        found["took part"] = standard.transparency.participation
    if standard.learned.binding:
        of_all = {"found": standard.learned.found, "sure": standard.learned.claims}
        found |= {f"{aim}, of a minority": 2 * limit for aim, limit in of_all.items()}
    return found


def beyond(policy: Policy, reaches: Mapping[str, Reach]) -> list[Beyond]:
    """Aims whose limits the attacks surely pass; a copy may stand there by chance as well, which shows no harm."""
    return [
        Beyond(aim, limit, reaches[aim])
        for aim, limit in limits(policy).items()
        if aim in reaches and aim != "copies" and reaches[aim].interval[0] > limit
    ]


def within(policy: Policy, reaches: Mapping[str, Reach]) -> bool:
    """Whether the attacks surely stay within all limits; of minorities and households, that nothing shows more."""
    asked = {aim: limit for aim, limit in limits(policy).items() if aim in reaches}
    if beyond(policy, reaches) or reaches.get("copies", Reach(0, 1)).interval[0] > asked.get("copies", 1.0):
        return False
    surely = (aim for aim in asked if not aim.endswith("minority") and aim not in ("together", "copies"))
    return all(reaches[aim].interval[1] <= asked[aim] for aim in surely)


_FIGURES = {
    ("learned_linkage", "everything"): "found",
    ("learned_claims", "everything"): "sure",
    **{("learned_linkage", f"any {m}"): f"found by {m}" for m in (3, 5)},
    **{("learned_claims", f"any {m}"): f"sure by {m}" for m in (3, 5)},
    **{("attribute_gain", f"any {m}"): f"read by {m}" for m in (3, 5)},
}


def figures(findings: Iterable[Finding]) -> dict[str, float]:
    """The gate's own figures beside which those of the attacks stand, by aim."""
    found: dict[str, float] = {}
    for each in findings:
        aim = _FIGURES.get((each.rule, each.scope))
        if aim is not None and each.observed is not None:
            found[aim] = max(each.observed, found.get(aim, 0.0))
    return found


def battery(
    files: Comparison, known: Sequence[int] = (5,), seed: int = 0, unit: str | None = None, key: str | None = None
) -> Reaches:
    """What all attacks reach.

    files : paired; with a holdout, participation is played, too
    known : how many variables somebody knows who does not know all
    unit  : the original variable that says who belongs together
    key   : the original variable that numbers the people
    """
    rng = np.random.default_rng(seed)
    people = _Parts.of(len(files.original), rng)
    names = [name for name in files.original if name not in (unit, key)]
    reaches: Reaches = {}
    if files.holdout is None or _has_pairs(files):
        reaches["found"], reaches["sure"] = _linked(files, names, people)
        for count in known:
            each = [_linked(files, chosen, people, choosing=True) for chosen in _sets(files, names, people, count)]
            reaches[f"found by {count}"] = max((found for found, _ in each), key=lambda reach: reach.share)
            reaches[f"sure by {count}"] = max((sure for _, sure in each), key=lambda reach: reach.share)
        reaches |= _by_keys(files, unit)
        if not {"found", "sure"} & {aim for aim, each in reaches.items() if each.interval[0] > _PLAIN_TO_SEE}:
            reaches |= _minorities(files, names, people)
    for count in known:
        reaches[f"read by {count}"] = _read(files, _sets(files, names, people, count), people)
    if unit is not None:
        reaches["together"] = together(files, unit)
    if key is not None:
        reaches["key"] = key_solved(files, key, people.learners, people.judged)
    if files.recoded_holdout is None:
        reaches["nearer"] = nearer(files, people)
    if files.paired:
        reaches["copies"] = copies(files)
    reaches["lost values"] = lost_values(files, people.learners)
    reaches["came back"] = came_back(files, people.learners)
    if files.recoded_holdout is not None:
        reaches["took part"] = took_part(files, rng)
    for block in files.blocks:  # variables that left their records together are somebody else's there
        moved = battery(files.of_block(block), known, seed, unit, key)
        for aim, each in moved.items():
            if aim not in reaches or each.interval[0] > reaches[aim].interval[0]:
                reaches[aim] = each
    return reaches


def _has_pairs(files: Comparison) -> bool:
    """Whether row i of the masked file is the record of row i of the original; else they stand there by chance."""
    return files.paired


@dataclass(frozen=True)
class _Parts:
    learners: Rows
    chosen_on: Rows
    judged: Rows

    @classmethod
    def of(cls, n: int, rng: np.random.Generator) -> "_Parts":
        order = rng.permutation(n)
        half = n // 2
        room = min(_CHOSEN_ON + _JUDGED, max(120, _PAIRS // max(1, n)), n - half)
        first = room * _CHOSEN_ON // (_CHOSEN_ON + _JUDGED)
        return cls(order[:half][:_LEARNERS], order[half : half + first], order[half + first : half + room])


# -- whose record is whose ------------------------------------------------------------


def _linked(files: Comparison, names: list[str], people: _Parts, choosing: bool = False) -> tuple[Reach, Reach]:
    """Found, and surely found, by the linker and the threshold that served best on others."""
    both = np.r_[people.chosen_on, people.judged]
    chosen_on = np.arange(len(both)) < len(people.chosen_on)
    best_found: tuple[float, Reach] = (-1.0, Reach(0, len(people.judged)))
    best_sure: tuple[float, Reach] = (-1.0, Reach(0, len(people.judged)))
    for score in _linkers(files, names, people):
        mine, leads = _tops(score(both), both)
        on = float(mine[chosen_on].mean())
        if on > best_found[0]:
            best_found = on, Reach(float(mine[~chosen_on].sum()), int((~chosen_on).sum()))
        right = mine > 0.99
        for lead in leads:
            order = np.argsort(-lead[chosen_on], kind="stable")
            gain = np.cumsum(np.where(right[chosen_on][order], 1.0, -1.0))
            if not len(gain) or gain.max() <= max(0.0, best_sure[0]):
                continue
            sure = lead[~chosen_on] >= lead[chosen_on][order][int(gain.argmax())]
            net = float(np.where(right[~chosen_on], 1.0, -1.0)[sure].sum())
            best_sure = float(gain.max()), Reach(max(0.0, net), int((~chosen_on).sum()))
    return best_found[1], best_sure[1]


def _tops(scores: Floats, people: Rows) -> tuple[Floats, list[Floats]]:
    """The share of each person's best records that is theirs, and by how much the best leads, in two ways."""
    every = np.arange(len(people))
    best = scores.max(axis=1)
    ties = scores >= (best - 1e-9)[:, None]
    mine = np.where(ties[every, people], 1.0 / ties.sum(axis=1), 0.0)
    second = np.partition(scores, -2, axis=1)[:, -2]
    lead = best - second
    apart = -best
    return mine, [lead, lead / (np.abs(apart) + 1e-6), best]


_Linker = Callable[[Rows], Floats]


def _linkers(files: Comparison, names: list[str], people: _Parts) -> Iterator[_Linker]:
    shared = [name for name in names if name in files.recoded and name in files.released]
    if shared:
        before, after = coded(files, shared)
        among = [ranks(column, column) for column in before.T]
        theirs = [ranks(column, own) for column, own in zip(after.T, before.T, strict=True)]
        numeric = [files.released[name].kind.is_numeric for name in files.recoded if name in shared]
        yield partial(_nearest, before, after, numeric, None)
        yield partial(_nearest, np.column_stack(among), np.column_stack(theirs), numeric, (before, after))
        yield partial(_equal, before, after)
        for window in (0.02, 0.1):
            yield partial(_windows, among, theirs, window)
        yield _likeliest(before, after, among, theirs, people)
        if np.isnan(after).any():
            yield _suppressed(before, after, people)
    for scale in ("raw", "rank", "log"):
        linker = _mapped(files, names, people, scale)
        if linker is not None:
            yield linker


def _nearest(before: Floats, after: Floats, numeric: Sequence[bool], labels: object, persons: Rows) -> Floats:
    total = np.zeros((len(persons), len(after)), np.float32)
    for column, is_number in enumerate(numeric):
        mine, others = before[persons, column], after[:, column]
        if is_number:
            width = 1.0 if labels is not None else float(np.nanstd(before[:, column])) or 1.0
            apart = ((mine[:, None] - others[None, :]) / width).astype(np.float32)
            total += np.where(np.isfinite(apart), np.minimum(apart * apart, 25.0), 1.0)
        else:
            if isinstance(labels, tuple):
                mine, others = labels[0][persons, column], labels[1][:, column]
            total += (mine[:, None] != others[None, :]).astype(np.float32)
    return -total


def _equal(before: Floats, after: Floats, persons: Rows) -> Floats:
    total = np.zeros((len(persons), len(after)), np.float32)
    for column in range(before.shape[1]):
        total += before[persons, column][:, None] == after[:, column][None, :]
    return total


def _windows(among: list[Floats], theirs: list[Floats], window: float, persons: Rows) -> Floats:
    total = np.zeros((len(persons), len(theirs[0])), np.float32)
    for mine, others in zip(among, theirs, strict=True):
        total += np.abs(mine[persons][:, None] - others[None, :]) <= window
    return total


_STEPS = (0.003, 0.01, 0.03, 0.1, 0.2)
_FINE = 2_000  # steps of a rank


def _likeliest(before: Floats, after: Floats, among: list[Floats], theirs: list[Floats], people: _Parts) -> _Linker:
    """A logistic model of closeness, a table of weights by column and step of closeness."""
    learners = people.learners
    rng = np.random.default_rng(len(learners))

    def steps(column: int, persons: Rows, records: Rows) -> NDArray[np.int64]:
        apart = np.abs(among[column][persons] - theirs[column][records])
        equal = before[persons, column] == after[records, column]
        return np.where(equal, 0, 1 + np.searchsorted(_STEPS, apart))

    classes = len(_STEPS) + 2

    def features(persons: Rows, records: Rows) -> Floats:
        found = np.zeros((len(persons), classes * len(among)))
        for column in range(len(among)):
            found[np.arange(len(persons)), classes * column + steps(column, persons, records)] = 1.0
        return found

    wrong = [rng.permutation(learners) for _ in range(4)]
    made = np.vstack([features(learners, learners), *(features(learners, each) for each in wrong)])
    is_own = np.r_[np.ones(len(learners)), np.zeros(4 * len(learners))]
    weights = LogisticRegression(max_iter=60, C=0.3, tol=1e-3).fit(made, is_own).coef_[0]
    places = np.searchsorted(_STEPS, np.arange(_FINE + 1) / _FINE)
    finely = (
        [np.round(each * _FINE).astype(np.int16) for each in among],
        [np.round(each * _FINE).astype(np.int16) for each in theirs],
    )

    def score(persons: Rows) -> Floats:
        total = np.zeros((len(persons), len(after)), np.float32)
        for column in range(len(among)):
            of_column = weights[classes * column : classes * (column + 1)].astype(np.float32)
            of_distance = of_column[1 + places]
            mine, others = finely[0][column][persons], finely[1][column]
            for place, person in enumerate(persons):
                of_records = of_distance[np.abs(others - mine[place])]
                of_records[after[:, column] == before[person, column]] = of_column[0]
                total[place] += of_records
        return total

    return score


def _suppressed(before: Floats, after: Floats, people: _Parts) -> _Linker:
    """Records that contradict nothing that is known, suppressed ones for those whose combination was rare."""
    lost = np.isnan(after) & ~np.isnan(before)
    columns = np.flatnonzero(lost.any(axis=0))
    text = pd.Series(["|".join(map(str, row)) for row in before[:, columns].tolist()])
    count = text.map(text.value_counts()).to_numpy()
    step = np.digitize(count, np.unique(np.quantile(count, np.linspace(0.02, 1, 25))))
    is_lost = lost.any(axis=1)
    share = np.array(
        [(is_lost[people.learners][step[people.learners] == each].sum() + 0.2) for each in range(step.max() + 1)]
    ) / np.array([(step[people.learners] == each).sum() + 0.4 for each in range(step.max() + 1)])

    def score(persons: Rows) -> Floats:
        total = np.zeros((len(persons), len(after)), np.float32)
        for column in range(before.shape[1]):
            mine, others = before[persons, column][:, None], after[:, column][None, :]
            fits = mine == others
            if column in columns:
                fits |= np.isnan(others)
            total -= 8.0 * ~fits
        of_person = share[step[persons]]
        total += np.where(is_lost[None, :], np.log(of_person)[:, None], np.log(1 - of_person)[:, None])
        return total

    return score


def _numbers(frame: pd.DataFrame, names: Sequence[str]) -> dict[str, Floats]:
    found = {}
    for name in names:
        values = pd.to_numeric(frame[name]) if pd.api.types.is_numeric_dtype(frame[name]) else None
        if values is not None and values.notna().any():
            whole = values.to_numpy(float, na_value=np.nan)
            found[name] = np.where(np.isfinite(whole), whole, np.nanmedian(whole))
    return found


def _on_scale(values: Floats, scale: str) -> Floats:
    if scale == "rank":
        return ranks(values, values) - 0.5
    if scale == "log":
        positive = np.abs(values[values != 0])
        return np.sign(values) * np.log1p(np.abs(values) / (np.median(positive) / 100 if len(positive) else 1.0))
    return values


def _labels(frame: pd.DataFrame, names: Sequence[str], most: int = 30) -> Iterator[Floats]:
    for name in names:
        if frame[name].dtype == "category":
            text = frame[name].astype(object)
            for value in text.value_counts().index[:most]:
                yield (text == value).to_numpy(float)


def _mapped(files: Comparison, names: list[str], people: _Parts, scale: str) -> _Linker | None:
    """Each released column predicted from all that is known; records by how likely they are of who was predicted so.

    Rotations, exchanges of columns, sums, ratios, and a factor that all numbers of a record share: what the errors have
    in common does not count.
    """
    learners = people.learners
    known = _numbers(files.original, names)
    columns = [
        each for values in known.values() for each in (values, _on_scale(values, "rank"), _on_scale(values, "log"))
    ]
    columns += _labels(files.original, names)
    if not columns:
        return None
    x = np.column_stack(columns)
    x = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-9)
    x = np.column_stack([x, np.ones(len(x))])
    half = np.arange(len(learners)) % 2 == 0
    total: list[tuple[Floats, Floats]] = []
    released = _numbers(files.masked, list(files.masked))
    y = [_on_scale(values, scale) for values in released.values()]
    y = [(each - each.mean()) / each.std() for each in y if each.std() > 0]
    if y:
        target = np.column_stack(y)
        errors = np.vstack(
            [
                target[learners[part]] - x[learners[part]] @ _ridge(x[learners[~part]], target[learners[~part]])
                for part in (half, ~half)
            ]
        )
        predicted = x @ _ridge(x[learners], target[learners])
        q = target.shape[1]
        spread = [np.cov(each.T).reshape(q, q) + 1e-6 * np.eye(q) for each in (errors, target)]
        inverse = [np.linalg.inv(np.linalg.cholesky(each)) for each in spread]
        total.append((predicted @ inverse[0].T, target @ inverse[0].T))
        outlying = 0.5 * ((target @ inverse[1].T) ** 2).sum(axis=1)
    else:
        outlying = np.zeros(len(files.masked))
    trees = []
    for name in files.masked:
        if files.masked[name].dtype == "category":
            codes = pd.factorize(files.masked[name].astype(object))[0]
            if 1 < len(np.unique(codes)) <= 60:
                tree = DecisionTreeClassifier(min_samples_leaf=10, max_depth=12, random_state=0)
                tree.fit(x[learners], codes[learners])
                usual = np.bincount(np.searchsorted(tree.classes_, codes).clip(0, len(tree.classes_) - 1))
                usual = np.maximum(usual, 1) / usual.sum()
                place = np.searchsorted(tree.classes_, codes).clip(0, len(tree.classes_) - 1)
                trees.append((tree, np.log(np.resize(usual, len(tree.classes_))), place))

    def score(persons: Rows) -> Floats:
        scores = np.tile(outlying.astype(np.float32), (len(persons), 1))
        for mine, others in total:
            apart = (mine[persons] ** 2).sum(axis=1)[:, None] + (others**2).sum(axis=1)[None, :]
            scores -= (0.5 * (apart - 2 * mine[persons] @ others.T)).astype(np.float32)
        for tree, usual, place in trees:
            likely = np.log(0.97 * tree.predict_proba(x[persons]) + 0.03 * np.exp(usual)[None, :]) - usual
            scores += likely[:, place].astype(np.float32)
        return scores

    return score


def _ridge(x: Floats, y: Floats) -> Floats:
    return np.linalg.solve(x.T @ x + 1e-2 * len(x) * 1e-3 * np.eye(x.shape[1]), x.T @ y)


def _sets(files: Comparison, names: list[str], people: _Parts, count: int) -> list[list[str]]:
    """Sets of so many variables: those of most values, and those whose released value tells most of whose it is."""
    shared = [name for name in files.recoded if name in files.released and name in names]
    if len(shared) <= count:
        return [shared]
    before, after = coded(files, shared)
    learners = people.learners
    tells = []
    for column, name in enumerate(shared):
        if files.released[name].kind.is_numeric:
            mine, others = (ranks(each, before[:, column]) for each in (before[:, column], after[:, column]))
            apart = np.abs(mine[learners] - others[learners])
            usual = np.sort(np.abs(mine[learners] - others[np.roll(learners, 1)]))
            share = (np.searchsorted(usual, apart, "right") + 1) / (len(usual) + 1)
        else:
            equal = before[learners, column] == after[learners, column]
            frequent = pd.Series(after[:, column]).value_counts(normalize=True)
            own = frequent.reindex(before[learners, column]).fillna(1 / len(after)).to_numpy(float)
            share = np.where(equal, own, 1.0)
        tells.append(float(-np.log(share).mean()))
    values = [len(np.unique(after[:, column])) for column in range(len(shared))]
    sets = [[shared[place] for place in np.argsort(-np.array(by), kind="stable")[:count]] for by in (tells, values)]
    return [list(each) for each in dict.fromkeys(tuple(sorted(each)) for each in sets)]


def _by_keys(files: Comparison, unit: str | None) -> Reaches:
    """Whose own record is the nearest, or has most values in common, by the quasi-identifiers alone, beyond chance:
    nothing is learned, so more people count. The nearest also without those who share all keys with a crowd."""
    keys = [name for name, each in files.variables.items() if each.role == "quasi_identifier"]
    keys = [name for name in files.recoded if name in keys and name in files.released]
    if not keys:
        return {}
    before, after = coded(files, keys)
    numeric = [files.released[name].kind.is_numeric for name in keys]
    people = np.random.default_rng(1).permutation(len(before))[: min(_BY_KEYS, _PAIRS // len(after))]
    scores = {
        "nearest by keys": _nearest(before, after, numeric, None, people),
        "most alike by keys": _equal(before, after, people),
    }
    by_chance = len(people) / len(after)
    right = {aim: _tops(each, people)[0] for aim, each in scores.items()}
    of = files.original[unit].to_numpy() if unit in files.original else np.arange(len(after))
    alike = pd.DataFrame(after).assign(unit=of).groupby(list(range(len(keys))), dropna=False)["unit"]
    crowd = alike.transform("nunique").to_numpy()[people]
    for least in _CROWDS:
        right[_outside("nearest by keys", least)] = np.where(crowd < least, right["nearest by keys"], 0.0)
    return {aim: Reach(float(each.sum()) - by_chance, len(people)) for aim, each in right.items()}


def _minorities(files: Comparison, names: list[str], people: _Parts) -> Reaches:
    """The category of a hundred people or more of whom most are found: the smallest of each variable."""
    worst = {"found": Reach(0, 1, _Z_OF_MANY), "sure": Reach(0, 1, _Z_OF_MANY)}
    for name in names:
        if files.original[name].dtype != "category":
            continue
        counts = files.original[name].value_counts()
        for value in counts[counts >= _MINORITY].index[::-1][:2]:
            rows = np.flatnonzero((files.original[name] == value).to_numpy())
            rows = np.random.default_rng(1).permutation(rows)[: 3 * _MINORITY]
            third = len(rows) // 3
            part = _Parts(rows[:third], rows[third : 2 * third], rows[2 * third :])
            found, sure = _of_minority(files, names, part)
            for aim, reach in (("found", found), ("sure", sure)):
                if reach.interval[0] > worst[aim].interval[0]:
                    worst[aim] = reach
    return {f"{aim}, of a minority": reach for aim, reach in worst.items()}


def _of_minority(files: Comparison, names: list[str], people: _Parts) -> tuple[Reach, Reach]:
    shared = [name for name in names if name in files.recoded and name in files.released]
    if not shared:
        return Reach(0, 1, _Z_OF_MANY), Reach(0, 1, _Z_OF_MANY)
    before, after = coded(files, shared)
    numeric = [files.released[name].kind.is_numeric for name in files.recoded if name in shared]
    among = np.column_stack([ranks(column, column) for column in before.T])
    theirs = np.column_stack([ranks(column, own) for column, own in zip(after.T, before.T, strict=True)])
    found, sure = Reach(0, len(people.judged), _Z_OF_MANY), Reach(0, len(people.judged), _Z_OF_MANY)
    chosen = -1.0, -1.0
    for score in (
        partial(_nearest, before, after, numeric, None),
        partial(_nearest, among, theirs, numeric, (before, after)),
        partial(_equal, before, after),
    ):
        (mine, leads), (then, then_leads) = (_tops(score(each), each) for each in (people.judged, people.chosen_on))
        if then.mean() > chosen[0]:
            found, chosen = Reach(float(mine.sum()), len(mine), _Z_OF_MANY), (float(then.mean()), chosen[1])
        for lead, then_lead in zip(leads, then_leads, strict=True):
            order = np.argsort(-then_lead, kind="stable")
            gain = np.cumsum(np.where(then[order] > 0.99, 1.0, -1.0))
            if len(gain) and gain.max() > max(0.0, chosen[1]):
                claimed = lead >= then_lead[order][int(gain.argmax())]
                net = float(np.where(mine > 0.99, 1.0, -1.0)[claimed].sum())
                sure, chosen = Reach(max(0.0, net), len(mine), _Z_OF_MANY), (chosen[0], float(gain.max()))
    return found, sure


# -- what is read, and who took part ------------------------------------------------------------


def _read(files: Comparison, sets: Sequence[Sequence[str]], people: _Parts) -> Reach:
    """People of whom one more value is read rightly than without their record, or than of people set aside."""
    best = (-1.0, Reach(0, len(people.judged), variance=0.0))
    names = [name for name in files.recoded if name in files.released]
    numeric = [files.released[name].kind.is_numeric for name in names]
    apart = files.recoded_holdout is not None and not files.paired
    before, after, before_other = _with_those_set_aside(files)
    at = np.array([ranks(column, own) for column, own in zip(after.T, after.T, strict=True)]).T
    for known in sets:
        places = [names.index(name) for name in known if name in names]
        others = [place for place in range(len(names)) if place not in places]
        if not places or not others:
            continue
        rows = {"choose": people.chosen_on, "judge": people.judged}
        gains, variance = {}, np.zeros(len(names))
        for part, persons in rows.items():
            with_own = _right(before, after, at, numeric, places, persons, without=False)
            if apart:
                drawn = np.random.default_rng(5).permutation(len(before_other))
                middle = len(drawn) // 3
                drawn = drawn[:middle] if part == "choose" else drawn[middle:]
                without = _right(before_other, after, at, numeric, places, drawn[: len(persons)], without=False)
                gains[part] = with_own.mean(axis=0) - without.mean(axis=0)
                variance = with_own.var(axis=0) / len(with_own) + without.var(axis=0) / max(1, len(without))
            else:
                without = _right(before, after, at, numeric, places, persons, without=True)
                gains[part] = (with_own - without).mean(axis=0)
                variance = (with_own - without).var(axis=0) / len(with_own)
        target = max(others, key=lambda place: gains["choose"][place])
        if gains["choose"][target] > best[0]:
            count = len(people.judged)
            of_all = float(gains["judge"][target]) * count
            best = gains["choose"][target], Reach(of_all, count, variance=float(variance[target]) * count**2)
    return best[1]


def _with_those_set_aside(files: Comparison) -> tuple[Floats, Floats, Floats]:
    """People, records, and people set aside, as numbers by one code."""
    if files.recoded_holdout is None:
        before, after = coded(files)
        return before, after, before[:0]
    aside = files.recoded_holdout[list(files.recoded)]
    both, after = coded(replace(files, recoded=pd.concat([files.recoded, aside], ignore_index=True)))
    return both[: len(files.recoded)], after, both[len(files.recoded) :]


def _right(
    before: Floats, after: Floats, at: Floats, numeric: Sequence[bool], places: list[int], persons: Rows, without: bool
) -> Floats:
    """For each person and variable, the share of the nearest records whose value is nearly theirs."""
    found = np.zeros((len(persons), before.shape[1]))
    order = [np.sort(column[np.isfinite(column)]) for column in after.T]
    for place, person in enumerate(persons):
        apart = np.zeros(len(after), np.float32)
        for column in places:
            if numeric[column]:
                mine = np.searchsorted(order[column], before[person, column]) / max(1, len(order[column]))
                apart += np.abs(at[:, column] - mine).astype(np.float32)
            else:
                apart += before[person, column] != after[:, column]
        if without:
            apart[person] = np.inf
        taken = np.flatnonzero(apart <= apart.min() + 1e-9)
        values = after[taken]
        for column in range(before.shape[1]):
            if numeric[column]:
                mine = np.searchsorted(order[column], before[person, column]) / max(1, len(order[column]))
                found[place, column] = (np.abs(at[taken, column] - mine) <= 0.02).mean()
            else:
                found[place, column] = (values[:, column] == before[person, column]).mean()
    return found


def nearer(files: Comparison, people: _Parts) -> Reach:
    """By how much more people have a record near in the file than in the original without them, at the distance that
    served best on others (Lasko and Vinterbo 2010)."""
    before, after = coded(files)
    numeric = [files.released[name].kind.is_numeric for name in files.recoded if name in files.released]
    told = []
    for persons in (people.chosen_on, people.judged):
        shown = _nearest(before, after, numeric, None, persons).max(axis=1)
        without = _nearest(before, before, numeric, None, persons)
        without[np.arange(len(persons)), persons] = -np.inf
        told.append((shown, without.max(axis=1)))
    edges = np.unique(np.concatenate(told[0]))
    gains = [float((told[0][0] >= edge).mean() - (told[0][1] >= edge).mean()) for edge in edges]
    edge, count = edges[int(np.argmax(gains))], len(people.judged)
    called = [(each >= edge).astype(float) for each in told[1]]
    apart = called[0] - called[1]
    return Reach(float(apart.sum()), count, variance=float(apart.var()) * count)


def took_part(files: Comparison, rng: np.random.Generator) -> Reach:
    """By how much more of the participants than of those set aside are called so, by nearness or by shared triples."""
    people, after, others = _with_those_set_aside(files)
    both = [people, others]
    names = [name for name in files.recoded if name in files.released]
    numeric = [files.released[name].kind.is_numeric for name in names]
    count = min(_JUDGED, *(len(each) for each in both))
    drawn = [each[rng.permutation(len(each))[:count]] for each in both]
    best = (-1.0, Reach(0, max(1, count - count // 3), variance=0.0))
    triples = [tuple(rng.choice(len(names), min(3, len(names)), replace=False)) for _ in range(60)]
    standing = [{tuple(row) for row in after[:, triple]} for triple in triples]
    for feature in ("nearness", "triples"):
        told = []
        for some in drawn:
            if feature == "nearness":
                told.append(_nearest(np.vstack([some, after]), after, numeric, None, np.arange(count)).max(axis=1))
            else:
                told.append(
                    np.array(
                        [sum(tuple(p[list(t)]) in s for t, s in zip(triples, standing, strict=True)) for p in some],
                        float,
                    )
                )
        first = count // 3
        edges = np.unique(np.r_[told[0][:first], told[1][:first]])
        gains = [(told[0][:first] >= e).mean() - (told[1][:first] >= e).mean() for e in edges]
        edge = edges[int(np.argmax(gains))]
        if max(gains) > best[0]:
            rest = count - first
            called = [float((each[first:] >= edge).mean()) for each in told]
            variance = rest * sum(share * (1 - share) for share in called)
            best = max(gains), Reach((called[0] - called[1]) * rest, rest, variance=variance)
    return best[1]


# -- who belongs together, keys, and what comes back ------------------------------------------------------------


def together(files: Comparison, unit: str) -> Reach:
    """People whose household is found: its members find each other by a value that they share, and no other household
    is made up as theirs. By the released column that serves best; of households, as members are found together."""
    names = files.original[unit].astype(str).to_numpy()
    keys = [
        name
        for name in files.recoded
        if name in files.released and files.recoded[name].dtype == "category" and name != unit
    ]
    own, shown = _as_text(files.recoded[keys]).to_numpy(), _as_text(files.masked[keys]).to_numpy()
    known = pd.Series(own).groupby(names).agg(lambda each: ";".join(sorted(each)))
    alone = known[~known.duplicated(keep=False)]
    best = Reach(0, max(1, len(known)))
    for column in files.masked:
        value = _joined(files.masked[column]).to_numpy()
        if not 0.1 * len(known) <= len(np.unique(value)) <= 1.5 * len(known) or len(np.unique(value)) > 0.9 * len(
            value
        ):
            continue
        groups = pd.DataFrame({"made": shown, "of": names}).groupby(value)
        made = groups["made"].agg(lambda each: ";".join(sorted(each)))
        single = made[~made.duplicated(keep=False)]
        places = {composition: place for place, composition in single.items()}
        of = groups["of"].agg(lambda each: each.iloc[0] if (each == each.iloc[0]).all() else "")
        right = wrong = 0
        for name, composition in alone.items():
            place = places.get(composition)
            if place is not None:
                right, wrong = (right + 1, wrong) if of[place] == name else (right, wrong + 1)
        if right - wrong > best.right:
            best = Reach(right - wrong, len(known))
    return best


def _joined(column: "pd.Series[Any]") -> "pd.Series[str]":
    """A value as a text; of a number, which of the clusters that lie apart it is in."""
    if not pd.api.types.is_numeric_dtype(column):
        return _as_text(column.to_frame())
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(float, na_value=np.nan)
    order = np.argsort(numbers, kind="stable")
    apart = np.diff(numbers[order]) > _APART * np.abs(numbers[order][1:])
    cluster = np.empty(len(numbers), np.int64)
    cluster[order] = np.r_[0, np.cumsum(apart)]
    return pd.Series(cluster, index=column.index).astype(str)


def _as_text(frame: pd.DataFrame) -> "pd.Series[str]":
    """All values of a record as one text."""
    total = pd.Series("", index=frame.index)
    for name in frame:
        total = total + "|" + frame[name].astype(object).where(frame[name].notna(), "*").astype(str)
    return total


def key_solved(files: Comparison, key: str, learners: Rows, judged: Rows) -> Reach:
    """People whose number is told by a released column: as it is, in its order, by (a x + b) mod p, by its digits in
    other places under other names, or hashed without a secret; learned from forty people."""
    numbers = pd.to_numeric(files.original[key]).to_numpy("int64")
    known, best = learners[:40], Reach(0, len(judged))
    for column in files.masked:
        text = _as_text(files.masked[[column]]).str.removeprefix("|").str.removesuffix(".0").to_numpy()
        if len(np.unique(text)) < 0.9 * len(text):
            continue
        for guess in (_hashed, _solved, _respelled, _in_bits, _in_order):
            told = guess(numbers, text, known)
            if told is None:
                continue
            right = float(np.mean([told.get(int(numbers[person])) == text[person] for person in judged]))
            if right * len(judged) > best.right:
                best = Reach(right * len(judged), len(judged))
    return best


def _whole(text: NDArray[np.object_]) -> list[int] | None:
    try:
        return [int(value) for value in text]
    except ValueError:
        return None


def _in_bits(numbers: Rows, text: NDArray[np.object_], known: Rows) -> dict[int, str] | None:
    """Each bit in another place, or turned."""
    values = _whole(text)
    if values is None or max(values) >= 1 << 40:
        return None
    wide = max(max(values), int(numbers.max())).bit_length()
    shown = np.array([f"{each:0{wide}b}" for each in values], dtype=object)
    told = _respelled(np.array([int(f"1{int(each):0{wide}b}") for each in numbers], dtype=object), "1" + shown, known)
    return told and {
        int(each): str(int(told[int(f"1{int(each):0{wide}b}")][1:].replace("?", "0") or "0", 2)) for each in numbers
    }


def _hashed(numbers: Rows, text: NDArray[np.object_], known: Rows) -> dict[int, str] | None:
    """An unsalted hash of the number, shortened as the known ones show."""
    made = [sha256(str(numbers[person]).encode()).hexdigest() for person in known]
    for read in (lambda value, n: value[:n], lambda value, n: str(int(value[:n], 16))):
        for length in range(6, 17):
            if all(read(value, length) == text[person] for value, person in zip(made, known, strict=True)):
                return {int(each): read(sha256(str(each).encode()).hexdigest(), length) for each in numbers.tolist()}
    return None


def _solved(numbers: Rows, text: NDArray[np.object_], known: Rows) -> dict[int, str] | None:
    """(a x + b) mod p: what differences of known people leave is a multiple of p."""
    values, by = _whole(text[known]), str
    if values is None and all(str(each).isalnum() for each in text[known]):
        values, by = [int(each, 36) for each in text[known]], _of_36
    if values is None:
        return None
    x, y = [int(numbers[person]) for person in known], values
    left = 0
    for i in range(2, len(x)):
        left = gcd(left, (y[i] - y[0]) * (x[1] - x[0]) - (y[1] - y[0]) * (x[i] - x[0]))
    p = abs(left)
    if p == 0:  # no modulus at all
        return {int(each): by(y[0] + (y[1] - y[0]) * (int(each) - x[0]) // (x[1] - x[0])) for each in numbers}
    for small in (2, 3, 5, 7):
        while p % small == 0 and p // small > max(y):
            p //= small
    if p <= max(y):
        return None
    try:
        a = (y[1] - y[0]) * pow(x[1] - x[0], -1, p) % p
    except ValueError:
        return None
    return {int(each): by((y[0] + a * (int(each) - x[0])) % p) for each in numbers.tolist()}


def _of_36(number: int) -> str:
    return np.base_repr(number, 36) if number >= 0 else ""


def _respelled(numbers: Rows, text: NDArray[np.object_], known: Rows) -> dict[int, str] | None:
    """Each digit in another place and under another name."""
    spelled = [str(numbers[person]) for person in known]
    wide = max(len(each) for each in map(str, numbers.tolist()))
    spelled = [each.zfill(wide) for each in spelled]
    shown = [str(text[person]).zfill(wide) for person in known]
    if any(len(each) != wide for each in shown):
        return None
    rules: list[tuple[int, dict[str, str]]] = []
    for place in range(wide):
        fits: tuple[int, dict[str, str]] | None = None
        for origin in range(wide):
            names: dict[str, str] = {}
            steady = all(names.setdefault(s[origin], t[place]) == t[place] for s, t in zip(spelled, shown, strict=True))
            if steady and len({*names.values()}) == len(names) and (fits is None or len(names) > len(fits[1])):
                fits = origin, names
        if fits is None:
            return None
        rules.append(fits)
    return {
        int(each): "".join(names.get(str(each).zfill(wide)[origin], "?") for origin, names in rules).lstrip("0") or "0"
        for each in numbers.tolist()
    }


def _in_order(numbers: Rows, text: NDArray[np.object_], known: Rows) -> dict[int, str] | None:
    """The order of the numbers, or the order turned round."""
    values = _whole(text)
    if values is None:
        return None
    order = np.sort(np.array(values, dtype=object))
    rank = {int(each): place for place, each in enumerate(np.sort(numbers).tolist())}
    for turned in (order, order[::-1]):
        told = {each: str(turned[place]) for each, place in rank.items() if place < len(turned)}
        if all(told.get(int(numbers[person])) == text[person] for person in known):
            return told
    return None


def copies(files: Comparison) -> Reach:
    """People who alone have their values in all released variables, and whose record shows them all."""
    names = [name for name in files.recoded if name in files.released]
    before, after = coded(files, names)
    before, after = np.nan_to_num(before, nan=-1.5), np.nan_to_num(after, nan=-1.5)
    _, place, counts = np.unique(before, axis=0, return_inverse=True, return_counts=True)
    alone = counts[place.ravel()] == 1
    return Reach(float((alone & (before == after).all(axis=1)).sum()), len(before))


def lost_values(files: Comparison, learners: Rows) -> Reach:
    """People whose suppressed value is told by what most of those lost who share the other keys; beyond those of whom
    it is what most people have who share them."""
    n = len(files.masked)
    judged = np.setdiff1d(np.arange(n), learners)
    best = Reach(0, len(judged))
    keys = [name for name, each in files.released.items() if each.role == "quasi_identifier" and name in files.recoded]
    for name in keys:
        lost = (files.masked[name].isna() & files.recoded[name].notna()).to_numpy()
        if not lost.any():
            continue
        truth = files.recoded[name].astype(object).to_numpy()
        looks = _as_text(files.masked[[key for key in keys if key != name]]).to_numpy()
        told = _told(looks, truth, lost, learners)
        usual = _told(looks, truth, np.ones(n, bool), learners)
        mine = judged[lost[judged]]
        claimed = [person for person in mine if told.get(looks[person]) is not None]
        right = sum(told[looks[person]] == truth[person] for person in claimed)
        guessed = sum(usual.get(looks[person]) == truth[person] for person in mine)
        if right > len(claimed) / 2 and right - guessed > best.right:
            best = Reach(right - guessed, len(judged))
    return best


def _told(
    looks: NDArray[np.object_], truth: NDArray[np.object_], among: NDArray[np.bool_], learners: Rows
) -> dict[object, object]:
    """By how a record looks, the value of more than half of those among whom it was learned."""
    known = learners[among[learners]]
    counts = pd.crosstab(looks[known], truth[known])
    shares = counts.div(counts.sum(axis=1), axis=0)
    return {look: value for look, value in shares.idxmax(axis=1).items() if shares.loc[look, value] > 0.5}


def came_back(files: Comparison, learners: Rows, k: int = 5) -> Reach:
    """People in groups of fewer than k by the released keys and by originals of keys that other columns tell surely."""
    keys = [
        name for name, each in files.variables.items() if each.role == "quasi_identifier" and name in files.original
    ]
    shown = [name for name in keys if name in files.masked and name in files.released]
    others = [name for name in files.masked if name not in keys]
    n = len(files.original)
    judged = np.setdiff1d(np.arange(n), learners)
    best = Reach(0, len(judged))
    if not keys or not others:
        return best
    x = np.column_stack(
        [
            pd.factorize(files.masked[name].astype(object))[0]
            if not pd.api.types.is_numeric_dtype(files.masked[name])
            else pd.to_numeric(files.masked[name], errors="coerce").to_numpy(float, na_value=-1)
            for name in others
        ]
    )
    x = np.where(np.isfinite(x), x, -1.0)
    released = _as_text(files.masked[shown]) if shown else pd.Series([""] * n)
    usual = released.map(released.value_counts()).to_numpy()
    for key in keys:
        values = _as_text(files.original[[key]])
        if key in shown and (values == _as_text(files.masked[[key]])).mean() > 0.9:
            continue
        codes, _ = pd.factorize(values)
        if len(np.unique(codes)) > 100:
            continue
        tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(x[learners], codes[learners])
        likely = tree.predict_proba(x)
        told = np.where(likely.max(axis=1) >= _SURE, tree.classes_[likely.argmax(axis=1)], -1)
        if (told[judged] >= 0).mean() == 0 or (told == codes)[judged][told[judged] >= 0].mean() < 0.9:
            continue
        both = released.str.cat(pd.Series(told).astype(str), sep="|")
        size = both.map(both.value_counts()).to_numpy()
        hit = (told == codes) & (size < k) & (usual >= k)
        if hit[judged].sum() > best.right:
            best = Reach(float(hit[judged].sum()), len(judged))
    return best
