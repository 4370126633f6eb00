"""What comes back: who belongs together, numbers of people under a function, lost values and removed keys."""

from hashlib import sha256
from math import gcd
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from sluice.utility.comparison import Comparison
from tests.red_team.attacks import coded
from tests.red_team.reach import Reach, Rows

_APART = 1e-5  # of a number: who lies nearer shows the same one
_SURE = 0.95  # of a leaf that are alike, from which a value came back


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
