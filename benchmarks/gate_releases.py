"""The releases by which the gate is judged: kinds of files at three strengths, made of samples of real populations.

Which of them are bad is no matter of their kind: attacks say so (`tests/red_team/battery.py`). What is called bad or
good here is only what each kind is meant to be.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from sluice.ground.variables import Kind, Role, Variable
from sluice.masking.plan import apply_recodings
from sluice.utility.comparison import Comparison
from tests.red_team.files import files_of, masked_by
from tests.reference_data import adult_columns, reference_path

Frame = pd.DataFrame
Plan = list[dict[str, Any]]

_CENSUS_COLUMNS = [
    "age", "class_of_worker", "industry", "occupation", "education", "wage_per_hour", "enrolled", "marital_stat",
    "major_industry", "major_occupation", "race", "hispanic_origin", "sex", "union", "unemployment", "employment",
    "capital_gains", "capital_losses", "dividends", "tax_filer_stat", "previous_region", "previous_state", "household",
    "household_summary", "instance_weight", "msa", "reg", "within", "same_house", "sunbelt", "employer_persons",
    "family_under_18", "father", "mother", "self", "citizenship", "own_business", "veterans_questionnaire",
    "veterans_benefits", "weeks_worked", "year", "income",
]  # fmt: skip


@dataclass(frozen=True)
class Population:
    """Real people, or firms, and how a file of them is made.

    core       : categories of few values, or an age, that a file for everybody holds, coarse
    detail     : a finer category, which such a file leaves out
    sensitive  : a category
    numbers    : what is measured of them
    categories : further ones
    unit       : who belongs together
    """

    name: str
    frame: Frame
    core: tuple[str, ...]
    detail: str
    sensitive: str
    numbers: tuple[str, ...]
    categories: tuple[str, ...] = ()
    unit: str | None = None

    def drawn(self, n: int, seed: int) -> tuple[Frame, Frame]:
        """So many people, households whole, and all others."""
        rng = np.random.default_rng(seed)
        if self.unit is None:
            order = rng.permutation(len(self.frame))
            mine = order[:n]
        else:
            units = self.frame[self.unit].to_numpy()
            place = pd.Series(np.arange(self.frame[self.unit].nunique()), rng.permutation(np.unique(units)))
            order = np.argsort(place[units].to_numpy(), kind="stable")
            mine = order[:n]
        rest = np.setdiff1d(order, mine)
        return self.frame.iloc[mine].reset_index(drop=True), self.frame.iloc[rng.permutation(rest)].reset_index(
            drop=True
        )

    def variables(self, frame: Frame, keys: Sequence[str]) -> dict[str, Variable]:
        found = {}
        for name in frame:
            if frame[name].dtype == "category":
                kind, more = Kind.NOMINAL, {"categories": tuple(frame[name].cat.categories)}
            else:
                kind, more = (Kind.INTEGER if str(frame[name].dtype) == "Int64" else Kind.CONTINUOUS), {}
            role = Role.QUASI_IDENTIFIER if name in keys else Role.SENSITIVE if name == self.sensitive else Role.OTHER
            if name == self.unit:
                kind, more, role = Kind.TEXT, {}, Role.HOUSEHOLD
            found[name] = Variable(name=name, kind=kind, role=role, **more)
        return found


def _typed(raw: Frame, numbers: Sequence[str], categories: Sequence[str], unit: str | None = None) -> Frame:
    kept = raw[[*categories, *numbers, *([unit] if unit else [])]].dropna().reset_index(drop=True)
    made = {}
    for name in kept:
        if name in numbers:
            values = pd.to_numeric(kept[name])
            made[name] = values.astype("Int64") if (values % 1 == 0).all() else values.astype(float)
        elif name == unit:
            made[name] = kept[name].astype(str).astype("str")
        else:
            made[name] = kept[name].astype(str).str.strip().astype("category")
    return pd.DataFrame(made)


@cache
def adult() -> Population:
    raw = pd.read_csv(
        reference_path("adult", "adult.data.gz"), names=adult_columns(), skipinitialspace=True, na_values="?"
    )
    core, categories = ("age", "sex", "marital_status"), ("education", "race", "workclass", "relationship", "income")
    numbers = ("hours_per_week", "fnlwgt", "capital_gain", "capital_loss", "education_num")
    frame = _typed(raw, ("age", *numbers), ("sex", "marital_status", *categories, "occupation"))
    return Population("adult", frame, core, "education", "occupation", numbers, categories)


@cache
def census_income() -> Population:
    raw = pd.read_csv(
        reference_path("kdd_census_income", "census_income_1994_1995_train.csv.gz"), names=_CENSUS_COLUMNS,
        skipinitialspace=True, na_values="?",
    )  # fmt: skip
    raw = raw[(raw["age"] >= 18) & (raw["age"] < 65)].sample(80_000, random_state=0)
    core, categories = ("age", "sex", "marital_stat"), ("education", "race", "tax_filer_stat", "citizenship")
    numbers = ("wage_per_hour", "dividends", "weeks_worked", "employer_persons", "instance_weight", "capital_gains")
    frame = _typed(raw, ("age", *numbers), ("sex", "marital_stat", *categories, "class_of_worker"))
    return Population("census-income", frame, core, "education", "class_of_worker", numbers, categories)


@cache
def nhanes() -> Population:
    raw = pd.read_csv(reference_path("nhanes_bioage", "NHANES3.csv.gz"))
    numbers = (
        "bmi", "height", "weight", "albumin", "alp", "glucose", "uap", "lymph", "mcv", "rbc", "sbp", "pulse", "hdl",
        "totchol",
    )  # fmt: skip
    core, categories = ("age", "gender", "ethnicity"), ("education", "income_recode")
    frame = _typed(raw, ("age", *numbers), ("gender", "ethnicity", *categories, "health"))
    return Population("nhanes", frame, core, "income_recode", "health", numbers, categories)


def _stays() -> Frame:
    return pd.read_csv(
        reference_path("diabetes130", "diabetic_data.csv.gz"), na_values="?", keep_default_na=False, low_memory=False
    )


_DIABETES_NUMBERS = (
    "time_in_hospital", "num_lab_procedures", "num_procedures", "num_medications", "number_inpatient",
    "number_diagnoses",
)  # fmt: skip


@cache
def diabetes() -> Population:
    """Patients by their first stay."""
    raw = _stays().drop_duplicates("patient_nbr").assign(diagnosis=lambda f: f["diag_1"].astype(str).str[:1])
    core, categories = ("age", "gender", "race"), ("insulin", "admission_type_id", "diagnosis", "A1Cresult")
    frame = _typed(raw, _DIABETES_NUMBERS, (*core, *categories, "readmitted"))
    return Population("diabetes", frame, core, "diagnosis", "readmitted", _DIABETES_NUMBERS, categories)


@cache
def stays() -> Population:
    """All stays of patients with three and more; what is charged is one figure of the patient."""
    raw = _stays()
    raw = raw[raw.groupby("patient_nbr")["patient_nbr"].transform("size") >= 3]
    charged = (
        (100 * raw["num_lab_procedures"] + 7 * raw["num_medications"]).groupby(raw["patient_nbr"]).transform("sum")
    )
    raw = raw.assign(amount=charged, diagnosis=raw["diag_1"].astype(str).str[:1])
    core = ("age", "gender", "admission_type_id")
    frame = _typed(raw, ("amount", *_DIABETES_NUMBERS), (*core, "diagnosis", "readmitted"), "patient_nbr")
    return Population("stays", frame, core, "diagnosis", "readmitted", _DIABETES_NUMBERS, (), "patient_nbr")


@cache
def households() -> Population:
    """Members of 1,000 households; the amount is one figure of the household."""
    raw = pd.read_csv(reference_path("sdcmicro_testdata", "testdata.csv.gz"))
    raw["amount"] = raw.groupby("ori_hid")["income"].transform("sum")
    core, categories = ("age", "sex", "urbrur"), ("relat", "roof", "hhcivil")
    numbers = ("expend", "income", "savings")
    frame = _typed(raw, ("age", "amount", *numbers), ("sex", "urbrur", *categories, "water"), "ori_hid")
    return Population("households", frame, core, "relat", "water", numbers, categories, "ori_hid")


@cache
def firms() -> Population:
    raw = pd.read_csv(reference_path("business_indiv_dt", "indiv_dt.csv.gz"))
    core, categories = ("A10", "SIZE", "NUTS1"), ("A21", "CJ")
    numbers = ("TURNOVER", "PRODUCTION", "WEIGHT")
    frame = _typed(raw, numbers, (*core, *categories, "TYPE"))
    return Population("firms", frame, core, "A21", "TYPE", numbers, categories)


@cache
def tax() -> Population:
    """1,080 people by 12 amounts."""
    raw = pd.read_csv(reference_path("casc", "census.csv")).drop(columns="AFNLWGT", errors="ignore")
    frame = _typed(raw, list(raw), ())
    return Population("tax", frame, (), "", "", tuple(raw))


POPULATIONS: Mapping[str, Callable[[], Population]] = {
    "adult": adult, "census-income": census_income, "nhanes": nhanes, "diabetes": diabetes, "firms": firms,
    "households": households, "stays": stays, "tax": tax,
}  # fmt: skip


@dataclass(frozen=True)
class Release:
    """A file as the gate is given it, and as its makers know it: with pairs."""

    judged: Comparison
    truth: Comparison
    unit: str | None = None
    key: str | None = None


Make = Callable[[Population, int, int, int], Release]


def _same(files: Comparison, **about: Any) -> Release:
    return Release(files, files, **about)


_RARE = 0.12  # of the people: categories that are merged


# -- files with groups of look-alikes ------------------------------------------------------------


def grouped(
    of: Population,
    people: Frame,
    k: int,
    seed: int,
    more: Sequence[str] = (),
    steps: Sequence[dict[str, Any]] = (),
    bands: int = 4,
    merged: bool = False,
) -> Comparison:
    """The core, coarse, in groups of k, the sensitive value as it is, and more as the steps leave it."""
    kept = [*of.core, of.sensitive, *more]
    frame = people[[name for name in people if name in (*kept, of.detail, of.unit)]]
    plan: Plan = []
    if "age" in frame and frame["age"].dtype != "category":
        plan.append({"method": "global_recoding", "columns": ["age"], "quantiles": bands})
    for name in of.core if merged else ():
        shares = frame[name].value_counts(normalize=True)
        kept_apart = {str(each): [str(each)] for each in shares.index[shares >= _RARE]}
        if frame[name].dtype == "category" and 0 < len(kept_apart) < len(shares) - 1:
            plan.append(
                {"method": "global_recoding", "columns": [name], "categories": kept_apart, "others": "all others"}
            )
    if k > 1:
        plan.append({"method": "local_suppression", "columns": list(of.core), "k": k})
    plan += steps
    out = [name for name in frame if name not in kept]
    plan += [{"method": "removal", "columns": out}] if out else []
    return masked_by((frame, of.variables(frame, (*of.core, of.detail))), plan, seed)


def of_a_household_nearly(of: Population, n: int, strength: int, seed: int) -> Release:
    """Each member shows nearly the household's amount: no two values are equal."""
    people, _ = of.drawn(n, seed)
    files = grouped(of, people, 10, seed, ["amount"], [], 4)
    rng = np.random.default_rng(seed)
    units, place = np.unique(people[of.unit], return_inverse=True)
    noisy = people["amount"].to_numpy(float) * np.exp((0.1, 0.3, 0.8)[strength] * rng.normal(size=len(units)))[place]
    noisy *= 1 + 1e-6 * rng.normal(size=len(noisy))
    amount = files.released["amount"].model_copy(update={"kind": Kind.CONTINUOUS})
    given = replace(files, masked=files.masked.assign(amount=noisy), carried_out=None, blocks=())
    return _same(replace(given, released={**given.released, "amount": amount}), unit=of.unit)


def _with_column(files: Comparison, name: str, values: Any, variable: Variable) -> Comparison:
    """The masked file with one more column, which no step of a plan made."""
    return replace(
        files, masked=files.masked.assign(**{name: values}), released={**files.released, name: variable},
        carried_out=None, blocks=(),
    )  # fmt: skip


def recoded(of: Population, n: int, strength: int, seed: int) -> Release:
    people, _ = of.drawn(n, seed)
    return _same(grouped(of, people, (20, 50, 20)[strength], seed, bands=(4, 3, 2)[strength], merged=strength > 0))


def recoded_and_swapped(of: Population, n: int, strength: int, seed: int) -> Release:
    people, _ = of.drawn(n, seed)
    numbers = list(of.numbers[:2])
    steps: Plan = [{"method": "rank_swapping", "columns": numbers, "window": (0.4, 0.7, 1.0)[strength]}]
    return _same(grouped(of, people, (20, 50, 20)[strength], seed, numbers, steps, (3, 3, 2)[strength], strength > 0))


def too_fine(of: Population, n: int, strength: int, seed: int) -> Release:
    people, _ = of.drawn(n, seed)
    return _same(grouped(of, people, (1, 2, 3)[strength], seed, (of.detail, *of.categories[:2]), bands=12))


def in_regions(of: Population, n: int, strength: int, seed: int) -> Release:
    """Core and numbers in regions of k."""
    people, _ = of.drawn(n, seed)
    names = [*of.core, *of.numbers[:2]]
    frame = people[[*names, of.sensitive]]
    plan: Plan = [{"method": "mondrian", "columns": names, "k": (25, 50, 100)[strength]}]
    return _same(masked_by((frame, of.variables(frame, names)), plan, seed))


def of_a_household(of: Population, n: int, strength: int, seed: int) -> Release:
    """Each member shows the household's amount, swapped or with noise: the household is what shows the same amount."""
    people, _ = of.drawn(n, seed)
    window = (0.05, 0.2, 0.5)[strength]
    if of.name == "households":
        steps: Plan = [{"method": "rank_swapping", "columns": ["amount"], "window": window, "unit": "household"}]
        return _same(grouped(of, people, 10, seed, ["amount"], steps, 4), unit=of.unit)
    files = grouped(of, people, 10, seed, ["amount"], [], 4)
    rng = np.random.default_rng(seed)
    units, place = np.unique(people[of.unit], return_inverse=True)
    noisy = people["amount"].to_numpy(float) * np.exp(window * rng.normal(size=len(units)))[place]
    given = replace(files, masked=files.masked.assign(amount=noisy), carried_out=None, blocks=())
    amount = given.released["amount"].model_copy(update={"kind": Kind.CONTINUOUS})
    return _same(replace(given, released={**given.released, "amount": amount}), unit=of.unit)


def _spelled(number: int, letters: str) -> str:
    """A number by other digits."""
    found = ""
    while number:
        number, left = divmod(number, len(letters))
        found = letters[left] + found
    return found


def numbered(of: Population, n: int, strength: int, seed: int) -> Release:
    """A file in groups with permuted sensitive values, and the people's number under a function that is no order."""
    rng = np.random.default_rng(seed)
    names, order = rng.permutation(10), rng.permutation(6)
    functions: tuple[Callable[[int], int], ...] = (
        lambda each: int(sha256(str(each).encode()).hexdigest()[:12], 16),
        lambda each: (each * 733_331 + 91_813) % 1_000_003,
        lambda each: int("".join(str(names[int(str(each)[place])]) for place in order)),
    )
    return _numbered(of, n, seed, functions[strength])


def labelled(of: Population, n: int, strength: int, seed: int) -> Release:
    """The same with labels, or a number some of whose bits are turned."""
    letters = "".join(np.random.default_rng(seed).permutation(list("ABCDEFGHIJ")))
    functions: tuple[Callable[[int], int | str], ...] = (
        lambda each: _spelled((each * 733_331 + 91_813) % 1_000_003, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        lambda each: each ^ 0b1011_0110_0101_1010_0110,
        lambda each: _spelled(each, letters),
    )
    return _numbered(of, n, seed, functions[strength])


def _numbered(of: Population, n: int, seed: int, function: Callable[[int], int | str]) -> Release:
    people, _ = of.drawn(n, seed)
    number = np.random.default_rng(seed).choice(900_000, len(people), replace=False) + 100_000
    steps: Plan = [{"method": "permutation", "columns": [of.sensitive]}]
    files = grouped(of, people, 50, seed, steps=steps, bands=3)
    shown = [function(int(each)) for each in number]
    is_text = isinstance(shown[0], str)
    values = pd.Series(shown, dtype="str") if is_text else pd.array(shown, "Int64")
    given = pd.Series([f"N{each}" for each in number], dtype="str") if is_text else pd.array(number, "Int64")
    case = Variable(name="case", kind=Kind.TEXT if is_text else Kind.INTEGER)
    files = _with_column(files, "case", values, case)
    truth = replace(
        files, original=files.original.assign(person_number=pd.array(number, "Int64")),
        variables=files.variables
        | {"person_number": Variable(name="person_number", kind=Kind.INTEGER, role=Role.IDENTIFIER)},
    )  # fmt: skip
    judged = replace(
        files, original=files.original.assign(case=given), recoded=files.recoded.assign(case=given),
        variables={**files.variables, "case": case},
    )  # fmt: skip
    return Release(judged, truth, key="person_number")


def told_by_another(of: Population, n: int, strength: int, seed: int) -> Release:
    """A key is removed, and a column that stays is a function of it."""
    people, _ = of.drawn(n, seed)
    rng = np.random.default_rng(seed)
    people = people.assign(**{of.detail: people[of.detail].cat.remove_unused_categories()})
    codes = people[of.detail].cat.codes.to_numpy()
    width = codes.max() + 1
    if strength == 0:  # the weight of its stratum
        sizes = pd.Series(codes).map(pd.Series(codes).value_counts()).to_numpy()
        shown = np.round(1e6 / sizes + rng.permutation(width)[codes] * 1e-3, 6)
    elif strength == 1:  # a code that begins with it
        shown = (codes + 10) * 1000.0 + rng.integers(0, 1000, len(codes))
    else:  # a distance from its centre
        shown = rng.permutation(width)[codes] * 10.0 + rng.uniform(0, 8, len(codes))
    role = Role.WEIGHT if strength == 0 else Role.OTHER
    people = people.assign(factor=shown)
    frame = people[[*of.core, of.sensitive, of.detail, "factor"]]
    variables = of.variables(frame, (*of.core, of.detail))
    variables["factor"] = Variable(name="factor", kind=Kind.CONTINUOUS, role=role)
    plan: Plan = (
        [{"method": "global_recoding", "columns": ["age"], "quantiles": 3}]
        if "age" in of.numbers + of.core and (frame["age"].dtype != "category")
        else []
    )
    plan.append({"method": "local_suppression", "columns": list(of.core), "k": 20})
    plan.append({"method": "permutation", "columns": [of.sensitive]})
    plan.append({"method": "removal", "columns": [of.detail]})
    return _same(masked_by((frame, variables), plan, seed))


# -- numbers that were perturbed ------------------------------------------------------------


def _perturbed(of: Population, n: int, seed: int, steps: Callable[[list[str]], Plan]) -> Release:
    people, _ = of.drawn(n, seed)
    frame = people[list(of.numbers)].astype(float)
    return _same(masked_by((frame, of.variables(frame, of.numbers)), steps(list(of.numbers)), seed))


def _noise(amounts: Sequence[float]) -> Make:
    def made(of: Population, n: int, strength: int, seed: int) -> Release:
        step = {"method": "additive_noise", "kind": "correlated", "amount": amounts[strength]}
        return _perturbed(of, n, seed, lambda names: [step | {"columns": names}])

    return made


def _swapped(windows: Sequence[float]) -> Make:
    def made(of: Population, n: int, strength: int, seed: int) -> Release:
        step = {"method": "rank_swapping", "window": windows[strength]}
        return _perturbed(of, n, seed, lambda names: [step | {"columns": names}])

    return made


def _averaged(sizes: Sequence[int]) -> Make:
    def made(of: Population, n: int, strength: int, seed: int) -> Release:
        step = {"method": "microaggregation", "k": sizes[strength]}
        return _perturbed(of, n, seed, lambda names: [step | {"columns": names}])

    return made


def shuffled(of: Population, n: int, strength: int, seed: int) -> Release:
    method = ("spectral_swapping", "data_shuffling", "permutation")[strength]
    about: dict[str, Any] = {"jointly": False} if method == "permutation" else {}
    return _perturbed(of, n, seed, lambda names: [{"method": method, "columns": names, **about}])


def _by_hand(of: Population, n: int, seed: int, make: Callable[[Frame, Frame, Generator], Frame]) -> Release:
    """Numbers and categories that no plan of ours masked."""
    people, others = of.drawn(n, seed)
    names = [*of.numbers, *of.categories]
    frame = people[names].astype(dict.fromkeys(of.numbers, float))
    masked = make(frame, others[names].astype(dict.fromkeys(of.numbers, float)), np.random.default_rng(seed))
    variables = of.variables(frame, names)
    released = {name: each for name, each in variables.items() if name in masked}
    return _same(files_of(frame, masked, variables, released, recoded=frame[list(masked)]))


def turned(of: Population, n: int, strength: int, seed: int) -> Release:
    """All numbers of a record turned in whitened space, by 90 degrees or at random, or all times one factor."""

    def make(frame: Frame, _: Frame, rng: Generator) -> Frame:
        values = frame[list(of.numbers)].to_numpy(float)
        q, spread = values.shape[1], np.cov(values.T)
        if strength == 2:
            made = values * np.exp(rng.normal(0, 1, (len(values), 1)))
        else:
            middle, root = values.mean(axis=0), np.linalg.cholesky(spread + np.diag(1e-6 * np.diag(spread)))
            turn = np.linalg.qr(rng.normal(size=(q, q)))[0]
            if strength == 0:
                turn = np.eye(q)
                for place in range(0, q - 1, 2):
                    turn[place : place + 2, place : place + 2] = [[0, -1], [1, 0]]
            white = np.linalg.solve(root, (values - middle).T).T
            if strength == 1:
                white += rng.normal(0, 0.05, white.shape)
            made = middle + white @ turn @ root.T
        return pd.DataFrame(made, columns=list(of.numbers))

    return _by_hand(of, n, seed, make)


def combined(of: Population, n: int, strength: int, seed: int) -> Release:
    """Numbers under each other's names with a little noise, sums of neighbours, or neighbours' ratios."""

    def make(frame: Frame, _: Frame, rng: Generator) -> Frame:
        values = frame[list(of.numbers)].to_numpy(float)
        beside = np.roll(values, 1, axis=1)
        if strength == 0:
            made = beside + 0.02 * beside.std(axis=0) * rng.normal(size=beside.shape)
        elif strength == 1:
            made = values / values.std(axis=0) + beside / beside.std(axis=0)
        else:
            low = np.abs(beside).mean(axis=0) / 10
            made = values / (np.abs(beside) + low)
        return pd.DataFrame(made, columns=list(of.numbers))

    return _by_hand(of, n, seed, make)


def _few_of(frame: Frame, others: Frame, rows: Any, noise: float, rng: Generator) -> Frame:
    """Other people's records, but for some people who are there with little noise."""
    made = others.iloc[rng.integers(0, len(others), len(frame))].reset_index(drop=True)
    for name in frame:
        column = made[name].copy()
        own = frame[name].iloc[rows]
        if frame[name].dtype == float:
            own = own + noise * frame[name].std() * rng.normal(size=len(own))
        column.iloc[rows] = own.to_numpy()
        made[name] = column
    return made


def mixed(of: Population, n: int, strength: int, seed: int) -> Release:
    """A few people hardly masked among many who are not there."""

    def make(frame: Frame, others: Frame, rng: Generator) -> Frame:
        rows = rng.permutation(len(frame))[: round((0.12, 0.06, 0.035)[strength] * len(frame))]
        return _few_of(frame, others, rows, 0.02, rng)

    return _by_hand(of, n, seed, make)


def minority(of: Population, n: int, strength: int, seed: int) -> Release:
    """Everybody of one small group is hardly masked, the others are not there."""

    def make(frame: Frame, others: Frame, rng: Generator) -> Frame:
        counts = pd.concat([frame[name].value_counts().rename(lambda v, m=name: (m, v)) for name in of.categories])
        counts = counts[counts >= 110].sort_values()
        name, value = counts.index[0]
        rows = np.flatnonzero((frame[name] == value).to_numpy())
        return _few_of(frame, others, rows, (0.02, 0.1, 0.2)[strength], rng)

    return _by_hand(of, n, seed, make)


def one_kept(of: Population, n: int, strength: int, seed: int) -> Release:
    """One number stays, as it is or in its order, among other people's."""

    def make(frame: Frame, others: Frame, rng: Generator) -> Frame:
        made = others.iloc[rng.integers(0, len(others), len(frame))].reset_index(drop=True)
        name = max(of.numbers, key=lambda each: frame[each].nunique())
        values = frame[name]
        made[name] = (values, np.exp(values / values.std() / 3), values.rank() + rng.normal(0, 0.3, len(values)))[
            strength
        ]
        return made

    return _by_hand(of, n, seed, make)


def independent(of: Population, n: int, strength: int, seed: int) -> Release:
    """Other people of the same population: all variables, numbers, or the categories."""

    def make(frame: Frame, others: Frame, rng: Generator) -> Frame:
        names = [[*of.numbers, *of.categories], list(of.numbers), [*of.categories, *of.numbers[:1]]][strength]
        return others.head(len(frame)).reset_index(drop=True)[names]

    return _by_hand(of, n, seed, make)


# -- files that are called synthetic ------------------------------------------------------------

_SET_ASIDE = 0.2


def _synthetic(
    of: Population, n: int, seed: int, make: Callable[[Frame, Mapping[str, Variable], Frame, Generator], Comparison]
) -> Release:
    """One in five people is set aside; whose record is whose is known to the makers alone."""
    everybody, others = of.drawn(n, seed)
    names = [name for name in (*of.core, *of.numbers, *of.categories, of.sensitive) if name]
    everybody = everybody[list(dict.fromkeys(names))]
    numbers = [name for name in everybody if everybody[name].dtype != "category"]
    everybody = everybody.astype(dict.fromkeys(numbers, float))
    rng = np.random.default_rng(seed)
    aside = round(_SET_ASIDE * n)
    holdout, people = everybody.iloc[:aside].reset_index(drop=True), everybody.iloc[aside:].reset_index(drop=True)
    variables = of.variables(people, (*of.core, *of.categories))
    files = make(people, variables, others[list(people)].astype(dict.fromkeys(numbers, float)), rng)
    recoded = holdout if files.carried_out is None else apply_recodings(files.carried_out, holdout, variables)
    files = replace(files, holdout=holdout, recoded_holdout=recoded)
    order = rng.permutation(len(files.masked))
    judged = replace(files, masked=files.masked.iloc[order].reset_index(drop=True), paired=False, blocks=())
    return Release(judged, files)


def _leaves(sizes: Sequence[int]) -> Make:
    def made(of: Population, n: int, strength: int, seed: int) -> Release:
        def make(people: Frame, variables: Mapping[str, Variable], _: Frame, rng: Generator) -> Comparison:
            plan: Plan = [{"method": "sequential_trees", "columns": list(people), "minimum_leaf": sizes[strength]}]
            return masked_by((people, dict(variables)), plan, seed, paired=False)

        return _synthetic(of, n, seed, make)

    return made


def called_synthetic(of: Population, n: int, strength: int, seed: int) -> Release:
    def make(people: Frame, variables: Mapping[str, Variable], _: Frame, rng: Generator) -> Comparison:
        numbers = [name for name in people if people[name].dtype != "category"]
        labels = [name for name in people if name not in numbers]
        step = (
            {"method": "rank_swapping", "window": 0.03},
            {"method": "additive_noise", "amount": 0.15},
            {"method": "microaggregation", "k": 3},
        )[strength]
        plan: Plan = [{**step, "columns": numbers}]
        plan += [{"method": "pram", "columns": labels, "retention": (0.95, 0.9, 0.85)[strength]}] if labels else []
        return masked_by((people, dict(variables)), plan, seed)

    return _synthetic(of, n, seed, make)


def with_copies(of: Population, n: int, strength: int, seed: int) -> Release:
    """Other people's records, and some participants' own."""

    def make(people: Frame, variables: Mapping[str, Variable], others: Frame, rng: Generator) -> Comparison:
        rows = rng.permutation(len(people))[: round((0.3, 0.15, 0.05)[strength] * len(people))]
        return files_of(people, _few_of(people, others, rows, 0.0, rng), dict(variables))

    return _synthetic(of, n, seed, make)


def others_records(of: Population, n: int, strength: int, seed: int) -> Release:
    """Nobody's records of those who took part: as if each had been drawn from the true distribution."""

    def make(people: Frame, variables: Mapping[str, Variable], others: Frame, rng: Generator) -> Comparison:
        made = others.sample(len(people), random_state=seed + strength).reset_index(drop=True)
        return files_of(people, made, dict(variables), paired=False)

    return _synthetic(of, n, seed, make)


@dataclass(frozen=True)
class Sort:
    """A kind of release: whether it is meant to be good, the policies it would be published under, and of whom."""

    name: str
    good: bool
    make: Make
    policies: tuple[str, ...]
    data: tuple[str, ...]


_CORE = ("adult", "census-income", "nhanes", "diabetes", "firms", "households")
_NUMBERS = ("census-income", "nhanes", "diabetes", "tax", "adult", "firms")
_BOTH = ("census-income", "nhanes", "diabetes", "adult")
_TWO = ("census-income", "nhanes", "diabetes", "adult", "firms")
_GROUPS, _OPEN = ("public-use-file", "scientific-use-file"), ("perturbed-file",)
_SYNTHETIC = ("synthetic-file",)

SORTS: tuple[Sort, ...] = (
    Sort("records that belong together", False, of_a_household, _GROUPS, ("households", "stays")),
    Sort("columns turned together", False, turned, _OPEN, _NUMBERS),
    Sort("a few among others", False, mixed, _OPEN, _BOTH),
    Sort("a number under a function", False, numbered, _GROUPS, _CORE),
    Sort("a removed key comes back", False, told_by_another, _GROUPS, ("adult", "census-income", "nhanes", "diabetes")),
    Sort("masked, called synthetic", False, called_synthetic, _SYNTHETIC, _TWO),
    Sort("one small group", False, minority, _OPEN, _BOTH),
    Sort("weak noise", False, _noise((0.001, 0.01, 0.05)), _OPEN, _NUMBERS),
    Sort("narrow windows", False, _swapped((0.02, 0.05, 0.1)), _OPEN, _NUMBERS),
    Sort("small groups of numbers", False, _averaged((2, 3, 5)), _OPEN, _NUMBERS),
    Sort("one number kept", False, one_kept, _OPEN, _BOTH),
    Sort("too fine", False, too_fine, _GROUPS, _CORE),
    Sort("small leaves", False, _leaves((1, 2, 5)), _SYNTHETIC, _TWO),
    Sort("copies among others", False, with_copies, _SYNTHETIC, _TWO),
    Sort("other people", True, independent, _OPEN, _TWO),
    Sort("recoded and suppressed", True, recoded, _GROUPS, _CORE),
    Sort("recoded and swapped", True, recoded_and_swapped, _GROUPS, _CORE),
    Sort("in regions", True, in_regions, _GROUPS, _CORE),
    Sort("strong noise", True, _noise((1.0, 2.0, 4.0)), _OPEN, _NUMBERS),
    Sort("wide windows", True, _swapped((0.4, 0.7, 1.0)), _OPEN, _NUMBERS),
    Sort("large groups of numbers", True, _averaged((30, 60, 120)), _OPEN, _NUMBERS),
    Sort("shuffled", True, shuffled, _OPEN, _NUMBERS),
    Sort("large leaves", True, _leaves((30, 100, 200)), _SYNTHETIC, _TWO),
    Sort("nearly one amount", False, of_a_household_nearly, _GROUPS, ("households", "stays")),
    Sort("columns combined", False, combined, _OPEN, _NUMBERS),
    Sort("a label for a number", False, labelled, _GROUPS, _CORE),
    Sort("other people, called synthetic", True, others_records, _SYNTHETIC, _TWO),
)  # fmt: skip
