"""What the models claim of unions of classes holds, and what they do not claim does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.errors import DataError
from sluice.generalization.lattice.key import Key
from sluice.generalization.lattice.node import Node, bottom
from sluice.generalization.lattice.suppression import Requirements
from sluice.generalization.models.alpha_k import AlphaKAnonymity
from sluice.generalization.models.beta_likeness import BetaLikeness
from sluice.generalization.models.delta_disclosure import DeltaDisclosure
from sluice.generalization.models.k_anonymity import KAnonymity
from sluice.generalization.models.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from sluice.generalization.models.privacy_model import PrivacyModel, ReleasedFile
from sluice.generalization.models.t_closeness import EqualTCloseness, HierarchicalTCloseness, OrderedTCloseness
from tests.golden import golden

TREE = ((0, 1, 2, 3), (0, 0, 1, 1))
MODELS: list[PrivacyModel] = [
    KAnonymity(3),
    DistinctLDiversity("a", 2),
    EntropyLDiversity("a", 1.8),
    RecursiveLDiversity("a", 1.5, 2),
    EqualTCloseness("a", 0.3),
    OrderedTCloseness("a", 0.2),
    HierarchicalTCloseness("a", 0.25, TREE),
    BetaLikeness("a", 1.0),
    BetaLikeness("a", 1.0, enhanced=True),
    DeltaDisclosure("a", 1.0),
    AlphaKAnonymity("a", 0.6, 2),
]
KEY = Key("place", np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]))


@st.composite
def files(draw: st.DrawFn, blanks: bool = True) -> tuple[Node, Node]:
    """The classes of a file at two levels, the higher one first."""
    n = draw(st.integers(1, 24))
    codes = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    values = np.array(draw(st.lists(st.integers(-blanks, 3), min_size=n, max_size=n)))
    base, _ = bottom([KEY], [codes], {"a": values})
    low = draw(st.integers(0, 1))
    fine, _ = base.at([low])
    return base.at([low + 1])[0], fine


def satisfied(model: PrivacyModel, node: Node) -> bool:
    file = ReleasedFile(node, np.ones(len(node.sizes), dtype=bool), "released")
    return not model.failing(file).any() and not model.file_fails(file)


@pytest.mark.parametrize("model", [model for model in MODELS if model.monotone], ids=repr)
@given(nodes=files())
def test_a_monotone_model_still_holds_when_classes_are_united(model: PrivacyModel, nodes: tuple[Node, Node]) -> None:
    coarse, fine = nodes
    assert satisfied(model, coarse) or not satisfied(model, fine)


@pytest.mark.parametrize("model", [model for model in MODELS if model.monotone_with_suppression], ids=repr)
@given(nodes=files(blanks=False))
def test_suppression_is_monotone_where_a_model_says_so(model: PrivacyModel, nodes: tuple[Node, Node]) -> None:
    """Every record whose coarse class fails has a fine class that fails, too."""
    coarse, fine = nodes
    failing = [model.failing(ReleasedFile(node, np.ones(len(node.sizes), dtype=bool), "removed")) for node in nodes]
    above = KEY.step(fine.levels[0], coarse.levels[0])[fine.shown(0)]
    for group, fails in zip(coarse.shown(0), failing[0], strict=True):
        if fails:
            assert failing[1][(above == group) & (fine.sizes > 0)].all()


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
    model = DeltaDisclosure("a", 1, absent=False)
    assert not model.monotone
    assert satisfied(model, fine)
    assert not satisfied(model, coarse)


@pytest.mark.parametrize(
    "build",
    [
        lambda: KAnonymity(0),
        lambda: DistinctLDiversity("a", 0),
        lambda: EntropyLDiversity("a", 0.5),
        lambda: RecursiveLDiversity("a", 0, 2),
        lambda: RecursiveLDiversity("a", 1, 1),
        lambda: EqualTCloseness("a", 20),
        lambda: HierarchicalTCloseness("a", 0.2, ()),
        lambda: BetaLikeness("a", 0),
        lambda: DeltaDisclosure("a", 0),
        lambda: AlphaKAnonymity("a", 0, 2),
        lambda: AlphaKAnonymity("a", 0.5, 0),
    ],
)
def test_limits_that_make_no_sense_are_refused(build: object) -> None:
    assert callable(build)
    with golden.raises(DataError):
        build()
