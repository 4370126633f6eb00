"""Masking methods, one file each. A step of a plan is one of them, told apart by its `method`."""

from typing import TYPE_CHECKING

from sluice.ground.extensions import extended
from sluice.masking.items.item_generalization import ItemGeneralization
from sluice.masking.items.item_suppression import ItemSuppression
from sluice.masking.masking_step import MaskingStep
from sluice.masking.microaggregation.clustering import (
    BottomUpLocalRecoding,
    KMemberClustering,
    KNearestClustering,
    OnePassKMeans,
)
from sluice.masking.microaggregation.histogram_sanitization import (
    RecursiveHistogramSanitization,
    SpectralHistogramSanitization,
)
from sluice.masking.microaggregation.microaggregation import Microaggregation
from sluice.masking.microaggregation.mondrian import Mondrian
from sluice.masking.microaggregation.ordered_microaggregation import (
    ProjectedMicroaggregation,
    UnivariateMicroaggregation,
)
from sluice.masking.noise.additive_noise import AdditiveNoise
from sluice.masking.noise.lossy_compression import LossyCompression
from sluice.masking.noise.matrix_decomposition import MatrixDecomposition
from sluice.masking.noise.pram import Pram
from sluice.masking.noise.random_orthogonal_matrix import RandomOrthogonalMatrix
from sluice.masking.recoding.derived import Derived
from sluice.masking.recoding.generalization import Generalization
from sluice.masking.recoding.global_recoding import GlobalRecoding
from sluice.masking.recoding.local_suppression import LocalSuppression
from sluice.masking.recoding.random_rounding import RandomRounding
from sluice.masking.recoding.removal import Removal
from sluice.masking.recoding.rounding import Rounding
from sluice.masking.recoding.sampling import Sampling
from sluice.masking.recoding.top_bottom_coding import TopBottomCoding
from sluice.masking.swapping.anatomization import Anatomization
from sluice.masking.swapping.data_swapping import DataSwapping
from sluice.masking.swapping.permutation import Permutation
from sluice.masking.swapping.rank_swapping import RankSwapping
from sluice.masking.swapping.spectral_swapping import SpectralSwapping
from sluice.masking.synthesis.data_distortion import DataDistortion
from sluice.masking.synthesis.data_shuffling import DataShuffling
from sluice.masking.synthesis.ipso import Ipso
from sluice.masking.synthesis.multiple_imputation import MultipleImputation
from sluice.masking.synthesis.resampling import Resampling
from sluice.masking.synthesis.sequential_trees import SequentialTrees

Step = (
    AdditiveNoise
    | Anatomization
    | BottomUpLocalRecoding
    | DataDistortion
    | DataShuffling
    | DataSwapping
    | Derived
    | Generalization
    | GlobalRecoding
    | Ipso
    | ItemGeneralization
    | ItemSuppression
    | KMemberClustering
    | KNearestClustering
    | LocalSuppression
    | LossyCompression
    | MatrixDecomposition
    | Microaggregation
    | Mondrian
    | MultipleImputation
    | OnePassKMeans
    | Permutation
    | Pram
    | ProjectedMicroaggregation
    | RandomOrthogonalMatrix
    | RandomRounding
    | RankSwapping
    | RecursiveHistogramSanitization
    | Removal
    | Resampling
    | Rounding
    | Sampling
    | SequentialTrees
    | SpectralHistogramSanitization
    | SpectralSwapping
    | TopBottomCoding
    | UnivariateMicroaggregation
)
if not TYPE_CHECKING:  # and the methods of other distributions that are installed
    Step = extended(Step, "sluice.methods", MaskingStep, "method")

__all__ = ["Step"]
