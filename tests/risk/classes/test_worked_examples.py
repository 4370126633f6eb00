"""Models of risk and population on a file of a few regions: which classes fail, the figures, and what a search does."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sluice.generalization.cost_benefit import CostBenefit, NoAttack, Profitability
from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import Node, Population, bottom
from sluice.generalization.lattice.node_suppression import Requirements
from sluice.generalization.lattice.search import search
from sluice.generalization.objectives.key_losses import Loss
from sluice.ground.errors import DataError, InfeasibleError
from sluice.risk.classes.alpha_k import AlphaKAnonymity
from sluice.risk.classes.beta_likeness import BetaLikenessModel
from sluice.risk.classes.delta_disclosure import DeltaDisclosureModel
from sluice.risk.classes.k_anonymity import KAnonymityModel
from sluice.risk.classes.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from sluice.risk.classes.privacy_model import PrivacyModel, ReleasedFile
from sluice.risk.classes.sample_uniques import SampleUniques
from sluice.risk.classes.t_closeness import EqualTCloseness, HierarchicalTCloseness
from sluice.risk.population.delta_presence import DeltaPresenceModel
from sluice.risk.population.k_map import EstimatedKMap, KMapModel
from sluice.risk.population.population_uniques import PopulationUniquesModel
from sluice.risk.population.reidentification_risk import AverageRisk, HighestRisk
from tests.golden import golden

# A file whose one key is a region of four, in two halves of the country.


REGION = Key("region", np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]))


def regions(*records: int) -> list[np.ndarray]:
    """The leaves of so many records, or people, in each region."""
    return [np.repeat(np.arange(len(records)), records)]


def released(records: list[np.ndarray], population: list[np.ndarray] | None = None, level: int = 0) -> ReleasedFile:
    """With nothing suppressed. The classes are in the order of the regions."""
    node, _ = bottom([REGION], records, {}, Population(tuple(population)) if population else None)
    node, _ = node.at([level])
    return ReleasedFile(node, np.ones(len(node.sizes), dtype=bool), "released")


NO, YES = False, True
PAYS = CostBenefit(benefit=100, penalty=150, gain=30, cost=10)


def attacked(gain: float) -> NoAttack:
    return NoAttack(CostBenefit(benefit=1, penalty=1, gain=gain, cost=3))


@pytest.mark.parametrize(
    ("model", "records", "population", "failing"),
    [
        (KMapModel(3), (1, 2, 1), (3, 2, 0, 5), [NO, YES, YES, NO]),  # of the last no record is in the file
        (KMapModel(1), (1, 2), (1, 2), [NO, NO]),
        (EstimatedKMap(1, 1000), (1, 2), None, [NO, NO]),
        (HighestRisk(0.5), (1, 2, 5), (4, 2, 8), [YES, NO, NO]),
        (HighestRisk(0.25, "journalist"), (1, 2, 5), (4, 2, 8), [NO, YES, NO]),
        (HighestRisk(1), (1, 1, 1), None, [NO, NO, NO]),
        (HighestRisk(1 / 3), (3,), None, [NO]),  # a limit that is met exactly is met
        (DeltaPresenceModel(0.5), (1, 2, 4), (4, 4, 5, 3), [NO, NO, YES, NO]),
        (DeltaPresenceModel(1), (4,), (4,), [NO]),
        (DeltaPresenceModel(0), (4,), (4,), [YES]),
        # By what an attack gains and costs, it is k-anonymity.
        *((attacked(gain), (1, 2, 3, 4), None, [size < fewest for size in (1, 2, 3, 4)])
          for gain, fewest in ((0, 1), (3, 1), (9, 3), (10, 4))),
        (NoAttack(PAYS), (1, 2, 3), None, [YES, YES, NO]),
        (Profitability(PAYS), (1, 2, 3), None, [YES, NO, NO]),  # 100 - 150, 100 - 75, 100
        (NoAttack(CostBenefit(1, 1, 12, 4), "journalist"), (1, 1), (5, 2), [NO, YES]),
    ],
)  # fmt: skip
def test_classes_that_fail(
    model: PrivacyModel, records: tuple[int, ...], population: tuple[int, ...] | None, failing: list[bool]
) -> None:
    file = released(regions(*records), regions(*population) if population else None)
    assert model.failing(file).tolist() == failing


@pytest.mark.parametrize(
    ("model", "records", "population", "figure"),
    [
        (AverageRisk(0), (1, 2, 5), (4, 2, 8), 3 / 8),
        (AverageRisk(0, "journalist"), (1, 2, 5), (4, 2, 8), (1 / 4 + 2 / 2 + 5 / 8) / 8),
        (AverageRisk(0, "journalist"), (2,), (1,), 0.5),  # a population of fewer people is not believed
        (AverageRisk(1 / 3), (2, 4), None, 1 / 3),
        (AverageRisk(1), (1, 1, 1), None, 1),
        (SampleUniques(0), (1, 2, 1, 6), None, 0.2),
        (PopulationUniquesModel(0, population=10), (1, 2, 1, 6), None, 0.2),  # everybody is in the file
        (PopulationUniquesModel(0, population=1e6), (2, 3), None, 0),  # no record is alone
    ],
)
def test_figures_of_a_file(
    model: AverageRisk | SampleUniques | PopulationUniquesModel,
    records: tuple[int, ...],
    population: tuple[int, ...] | None,
    figure: float,
) -> None:
    file = released(regions(*records), regions(*population) if population else None)
    assert model.figure(file) == pytest.approx(figure)
    assert not replace(model, most=figure).file_fails(file)
    assert not figure or replace(model, most=0.99 * figure).file_fails(file)


@pytest.mark.parametrize(
    ("model", "records", "population", "limit", "found"),
    [
        (KMapModel(3), (20, 1), (20, 2), 0.1, ((0,), 1)),  # a suppressed record fits everybody
        # Four classes of 16 records are 0.25; three, of which one is the two suppressed ones, are 0.1875.
        (AverageRisk(0.2), (1, 1, 6, 8), None, 0.2, ((0,), 2)),
        (AverageRisk(0.2), (1, 1, 6, 8), None, 0.0, ((1,), 0)),
        (Profitability(PAYS), (1, 2, 3), None, 0.2, ((0,), 1)),
    ],
)
def test_what_a_search_suppresses(
    model: PrivacyModel, records: tuple[int, ...], population: tuple[int, ...] | None, limit: float, found: object
) -> None:
    people = Population(tuple(regions(*population))) if population else None
    solution = search([REGION], regions(*records), [model], Loss(), population=people, suppression_limit=limit)
    assert (solution.levels, solution.suppressed) == found


@pytest.mark.parametrize(
    ("model", "records", "population", "limit"),
    [
        (DeltaPresenceModel(0.5, 0.1), (4,), (5,), 1),
        (SampleUniques(0), (1,), None, 1),  # one record is unique whatever is done
        (NoAttack(CostBenefit(1, 1, 1, 0)), (5, 5), None, 0),  # an attack that costs nothing always pays
        (HighestRisk(0.5, "journalist"), (1, 2), None, 0),  # who needs a population
        (PopulationUniquesModel(0.5, population=3), (1, 3), None, 0),
    ],
)
def test_what_cannot_be_had(
    model: PrivacyModel, records: tuple[int, ...], population: tuple[int, ...] | None, limit: float
) -> None:
    people = Population(tuple(regions(*population))) if population else None
    with golden.raises(InfeasibleError, DataError):
        search([REGION], regions(*records), [model], Loss(), population=people, suppression_limit=limit)


@pytest.mark.parametrize(
    "build",
    [
        lambda: KAnonymityModel(0),
        lambda: DistinctLDiversity("a", 0),
        lambda: EntropyLDiversity("a", 0.5),
        lambda: RecursiveLDiversity("a", 0, 2),
        lambda: RecursiveLDiversity("a", 1, 1),
        lambda: EqualTCloseness("a", 20),
        lambda: HierarchicalTCloseness("a", 0.2, ()),
        lambda: BetaLikenessModel("a", 0),
        lambda: DeltaDisclosureModel("a", 0),
        lambda: AlphaKAnonymity("a", 0, 2),
        lambda: AlphaKAnonymity("a", 0.5, 0),
        lambda: KMapModel(0),
        lambda: KMapModel(2).failing(released(regions(1))),
        lambda: EstimatedKMap(0, 10),
        lambda: EstimatedKMap(5, 10, 1.0),
        lambda: EstimatedKMap(5, 10).fewest(11),
        lambda: SampleUniques(20),
        lambda: AverageRisk(5),
        *((lambda most=most: HighestRisk(most)) for most in (0, -0.1, 1.1, float("nan"))),
        *((lambda ends=ends: DeltaPresenceModel(*ends)) for ends in ((0.2, 0.3), (1.1, 0), (0.5, -0.1), (50, 10))),
        lambda: DeltaPresenceModel(0.5).failing(released(regions(1))),
        lambda: NoAttack(CostBenefit(1, 1, 12, 4), "journalist").failing(released(regions(1))),
    ],
)
def test_limits_that_make_no_sense_are_refused(build: Callable[[], object]) -> None:
    with golden.raises(DataError):
        build()


@pytest.mark.parametrize(
    ("share", "distribution", "fewest"),
    [
        # A mean of 0.5: 2 or more with a chance of 0.0902, 3 or more of 0.0144; of those seen, 0.3935, that is 0.0366.
        (0.1, "poisson", 3),
        (0.1, "zero_truncated_poisson", 3),
        # A mean of 0.005: 1 with a chance of 0.005; 2 of those seen of 0.0025.
        (0.001, "poisson", 1),
        (0.001, "zero_truncated_poisson", 2),
        (1e-15, "zero_truncated_poisson", 2),
        (1.0, "poisson", 5),  # everybody: as many as k
    ],
)
def test_the_fewest_records_by_hand(share: float, distribution: str, fewest: int) -> None:
    assert EstimatedKMap(5, 100 / share, distribution=distribution).fewest(100) == fewest


def test_a_smaller_significance_asks_for_more_records_which_samples_of_small_groups_rarely_have() -> None:
    needed = [EstimatedKMap(50, 1000, significance).fewest(200) for significance in (0.3, 0.05, 0.001)]
    assert needed == sorted(set(needed))
    sampled = np.random.default_rng(1).poisson(20 * 0.1, 200_000)
    fewest = EstimatedKMap(20, 10_000, 0.05).fewest(1000)
    assert (sampled[sampled > 0] >= fewest).mean() < 0.05 < (sampled[sampled > 0] >= fewest - 1).mean()


def test_nobody_of_a_region_or_of_a_suppressed_class_is_in_the_file() -> None:
    assert DeltaPresenceModel(1, 0.25).file_fails(released(regions(1, 2, 4), regions(4, 4, 5, 3)))
    assert not DeltaPresenceModel(1, 0.25).file_fails(released(regions(1, 2, 4), regions(4, 4, 5)))
    assert not DeltaPresenceModel(1, 1).file_fails(released(regions(4), regions(4)))
    file = replace(released(regions(1, 1), regions(4, 4)), kept=np.array([True, False]))
    assert DeltaPresenceModel(1, 0.1).file_fails(file)


def test_why_some_models_are_not_monotone() -> None:
    """Where records are suppressed, more may fail in a union; a united class may pay no longer."""
    population = regions(10, 10)
    below, above = released(regions(5, 9), population), released(regions(5, 9), population, level=1)
    assert [int(file.node.sizes[DeltaPresenceModel(0.6).failing(file)].sum()) for file in (below, above)] == [9, 14]
    amounts = CostBenefit(benefit=100, penalty=120, gain=100, cost=1)
    assert not Profitability(amounts).failing(released(regions(2, 2))).any()  # 100 - 60
    assert Profitability(amounts).failing(released(regions(2, 2), level=2)).all()  # nothing - 30


def test_who_alone_is_suppressed_is_alone() -> None:
    file = replace(released(regions(1, 2)), kept=np.array([False, True]))
    assert SampleUniques(0).figure(file) == pytest.approx(1 / 3)
    assert SampleUniques(0).figure(replace(file, suppressed="removed")) == 0


def test_an_estimator_that_does_not_fit_vouches_for_nothing() -> None:
    """Of all the records alone Pitman's formula knows nothing."""
    file = released(regions(1, 1, 1))
    assert PopulationUniquesModel(1, population=100, estimator="pitman").file_fails(file)
    assert not PopulationUniquesModel(1, population=100, estimator="zayatz").file_fails(file)


def test_united_classes_may_have_more_uniques_by_the_estimate() -> None:
    groups = np.repeat(np.arange(20), [*[1] * 10, *[2] * 10])  # the pairs become fours
    node, _ = bottom([Key("area", np.array([np.arange(30), groups]))], regions(*[1] * 10, *[2] * 20), {})
    model = PopulationUniquesModel(1, population=500, estimator="zayatz")
    fine, coarse = (
        model.figure(ReleasedFile(each, np.ones(len(each.sizes), dtype=bool), "released"))
        for each in (node, node.at([1])[0])
    )
    assert fine < coarse


def test_the_smallest_classes_go_first_all_of_one_size_together() -> None:
    file = released(regions(2, 4, 2, 5))
    assert AverageRisk(0.3).relief(file).tolist() == [True, False, True, False]
    rest = replace(file, kept=np.array([False, True, False, True]), suppressed="removed")
    assert AverageRisk(0.2).relief(rest).tolist() == [False, True, False, False]
    assert not AverageRisk(0.25).relief(rest).any()
    of_people = released(regions(2, 1), regions(2, 9))
    assert AverageRisk(0.1, "journalist").relief(of_people).tolist() == [True, False]
    nothing = replace(released(regions(1, 1)), kept=np.zeros(2, dtype=bool), suppressed="removed")
    assert not SampleUniques(0).relief(nothing).any()
    assert not SampleUniques(0).file_fails(nothing)


def satisfied(model: PrivacyModel, node: Node) -> bool:
    file = ReleasedFile(node, np.ones(len(node.sizes), dtype=bool), "released")
    return not model.failing(file).any() and not model.file_fails(file)


def united(values: list[list[int]]) -> tuple[Node, Node]:
    """Two classes with such values, and their union."""
    key = Key("place", np.array([[0, 1, 2], [0, 0, 1]]))
    codes = np.concatenate([np.full(len(some), at) for at, some in enumerate(values)])
    fine, _ = bottom([key], [codes], {"a": np.concatenate(values)})
    return fine.at([1])[0], fine


def test_a_class_that_holds_may_not_once_it_is_united_with_one_that_does_not() -> None:
    coarse, fine = united([[0, 1], [0] * 10])
    for model in (EntropyLDiversity("a", 1.9), RecursiveLDiversity("a", 1.5, 2), AlphaKAnonymity("a", 0.6, 1)):
        assert not model.monotone_with_suppression
        assert model.failing(ReleasedFile(fine, np.ones(2, dtype=bool), "removed")).tolist() == [False, True]
        assert model.failing(ReleasedFile(coarse, np.ones(1, dtype=bool), "removed")).all()


def test_who_has_no_value_is_not_safe_once_united_with_those_of_one_value() -> None:
    coarse, fine = united([[0] * 9, [-1]])
    model = DistinctLDiversity("a", 2)
    assert model.failing(ReleasedFile(fine, np.ones(2, dtype=bool), "removed")).tolist() == [True, False]
    assert model.failing(ReleasedFile(coarse, np.ones(1, dtype=bool), "removed")).all()
    assert Requirements.of([model], 10, 0.5, "removed", ["a"]).certain == ()
    assert Requirements.of([model], 10, 0.5, "removed").certain == (model,)


def test_a_value_that_one_class_lacks_may_be_rare_in_the_union() -> None:
    coarse, fine = united([[0, 1, 1, 1], [1] * 12, [0] * 14])
    model = DeltaDisclosureModel("a", 1, absent=False)
    assert not model.monotone
    assert satisfied(model, fine)
    assert not satisfied(model, coarse)
