"""Whose record is whose: linkers of all kinds, of which the one serves that served best on other people."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from sluice.utility.comparison import Comparison
from tests.red_team.attacks import Floats, coded, least_apart, mixture, ranks
from tests.red_team.reach import PAIRS, Z_OF_MANY, Parts, Reach, Reaches, Rows

_BY_KEYS = 2_000
_MINORITY = 100
_FEWEST = 4  # numbers by which one of several maps is told
_CROWDS = (3, 5, 10)  # people whose keys are published alike, of whom the shipped policies say that nobody is named


def outside(aim: str, crowd: int) -> str:
    return f"{aim}, outside crowds of {crowd}"


def linked(files: Comparison, names: list[str], people: Parts, choosing: bool = False) -> tuple[Reach, Reach]:
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


def _linkers(files: Comparison, names: list[str], people: Parts) -> Iterator[_Linker]:
    shared = [name for name in names if name in files.recoded and name in files.released]
    if shared:
        before, after = coded(files, shared)
        among = [ranks(column, column) for column in before.T]
        theirs = [ranks(column, own) for column, own in zip(after.T, before.T, strict=True)]
        numeric = [files.released[name].kind.is_numeric for name in files.recoded if name in shared]
        yield partial(nearest_by, before, after, numeric, None)
        yield partial(nearest_by, np.column_stack(among), np.column_stack(theirs), numeric, (before, after))
        yield partial(_equal, before, after)
        for window in (0.02, 0.1):
            yield partial(_windows, among, theirs, window)
        yield _likeliest(before, after, among, theirs, people)
        if np.isnan(after).any():
            yield _suppressed(before, after, people)
    yield from _mixed(files, names, people)
    for scale in ("raw", "rank", "log"):
        linker = _mapped(files, names, people, scale)
        if linker is not None:
            yield linker


def nearest_by(before: Floats, after: Floats, numeric: Sequence[bool], labels: object, persons: Rows) -> Floats:
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


def _likeliest(before: Floats, after: Floats, among: list[Floats], theirs: list[Floats], people: Parts) -> _Linker:
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


def _suppressed(before: Floats, after: Floats, people: Parts) -> _Linker:
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


def _mapped(files: Comparison, names: list[str], people: Parts, scale: str) -> _Linker | None:
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


def _mixed(files: Comparison, names: list[str], people: Parts) -> Iterator[_Linker]:
    """Where one of several linear maps of all numbers leads, nobody knows which."""
    sides = [_numbers(files.original, names), _numbers(files.masked, list(files.masked))]
    if min(map(len, sides)) < _FEWEST:
        return
    known, shown = (np.column_stack([(v - v.mean()) / (v.std() + 1e-9) for v in side.values()]) for side in sides)
    known = np.column_stack([known, np.ones(len(known))])
    for maps in (3, 12):
        if len(people.learners) < 3 * maps * known.shape[1]:
            continue
        expected = known @ mixture(known[people.learners], shown[people.learners], maps)
        yield lambda persons, expected=expected: -least_apart(expected[:, persons], shown)  # type: ignore[misc]


def _ridge(x: Floats, y: Floats) -> Floats:
    return np.linalg.solve(x.T @ x + 1e-2 * len(x) * 1e-3 * np.eye(x.shape[1]), x.T @ y)


def sets_of(files: Comparison, names: list[str], people: Parts, count: int) -> list[list[str]]:
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


def by_keys(files: Comparison, unit: str | None) -> Reaches:
    """Whose own record is the nearest, or has most values in common, by the quasi-identifiers alone, beyond chance:
    nothing is learned, so more people count. The nearest also without those who share all keys with a crowd."""
    keys = [name for name, each in files.variables.items() if each.role == "quasi_identifier"]
    keys = [name for name in files.recoded if name in keys and name in files.released]
    if not keys:
        return {}
    before, after = coded(files, keys)
    numeric = [files.released[name].kind.is_numeric for name in keys]
    people = np.random.default_rng(1).permutation(len(before))[: min(_BY_KEYS, PAIRS // len(after))]
    scores = {
        "nearest by keys": nearest_by(before, after, numeric, None, people),
        "most alike by keys": _equal(before, after, people),
    }
    by_chance = len(people) / len(after)
    right = {aim: _tops(each, people)[0] for aim, each in scores.items()}
    of = files.original[unit].to_numpy() if unit in files.original else np.arange(len(after))
    alike = pd.DataFrame(after).assign(unit=of).groupby(list(range(len(keys))), dropna=False)["unit"]
    crowd = alike.transform("nunique").to_numpy()[people]
    for least in _CROWDS:
        right[outside("nearest by keys", least)] = np.where(crowd < least, right["nearest by keys"], 0.0)
    return {aim: Reach(float(each.sum()) - by_chance, len(people)) for aim, each in right.items()}


def minorities(files: Comparison, names: list[str], people: Parts) -> Reaches:
    """The category of a hundred people or more of whom most are found: the smallest of each variable."""
    worst = {"found": Reach(0, 1, Z_OF_MANY), "sure": Reach(0, 1, Z_OF_MANY)}
    for name in names:
        if files.original[name].dtype != "category":
            continue
        counts = files.original[name].value_counts()
        for value in counts[counts >= _MINORITY].index[::-1][:2]:
            rows = np.flatnonzero((files.original[name] == value).to_numpy())
            rows = np.random.default_rng(1).permutation(rows)[: 3 * _MINORITY]
            third = len(rows) // 3
            part = Parts(rows[:third], rows[third : 2 * third], rows[2 * third :])
            found, sure = _of_minority(files, names, part)
            for aim, reach in (("found", found), ("sure", sure)):
                if reach.interval[0] > worst[aim].interval[0]:
                    worst[aim] = reach
    return {f"{aim}, of a minority": reach for aim, reach in worst.items()}


def _of_minority(files: Comparison, names: list[str], people: Parts) -> tuple[Reach, Reach]:
    shared = [name for name in names if name in files.recoded and name in files.released]
    if not shared:
        return Reach(0, 1, Z_OF_MANY), Reach(0, 1, Z_OF_MANY)
    before, after = coded(files, shared)
    numeric = [files.released[name].kind.is_numeric for name in files.recoded if name in shared]
    among = np.column_stack([ranks(column, column) for column in before.T])
    theirs = np.column_stack([ranks(column, own) for column, own in zip(after.T, before.T, strict=True)])
    found, sure = Reach(0, len(people.judged), Z_OF_MANY), Reach(0, len(people.judged), Z_OF_MANY)
    chosen = -1.0, -1.0
    for score in (
        partial(nearest_by, before, after, numeric, None),
        partial(nearest_by, among, theirs, numeric, (before, after)),
        partial(_equal, before, after),
    ):
        (mine, leads), (then, then_leads) = (_tops(score(each), each) for each in (people.judged, people.chosen_on))
        if then.mean() > chosen[0]:
            found, chosen = Reach(float(mine.sum()), len(mine), Z_OF_MANY), (float(then.mean()), chosen[1])
        for lead, then_lead in zip(leads, then_leads, strict=True):
            order = np.argsort(-then_lead, kind="stable")
            gain = np.cumsum(np.where(then[order] > 0.99, 1.0, -1.0))
            if len(gain) and gain.max() > max(0.0, chosen[1]):
                claimed = lead >= then_lead[order][int(gain.argmax())]
                net = float(np.where(mine > 0.99, 1.0, -1.0)[claimed].sum())
                sure, chosen = Reach(max(0.0, net), len(mine), Z_OF_MANY), (chosen[0], float(gain.max()))
    return found, sure
