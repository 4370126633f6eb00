"""Masking methods, one file each. A step of a plan is one of them, told apart by its `method`."""

from sluice.masking.additive_noise import AdditiveNoise
from sluice.masking.anatomization import Anatomization
from sluice.masking.data_distortion import DataDistortion
from sluice.masking.data_shuffling import DataShuffling
from sluice.masking.data_swapping import DataSwapping
from sluice.masking.global_recoding import GlobalRecoding
from sluice.masking.ipso import Ipso
from sluice.masking.k_member_clustering import KMemberClustering
from sluice.masking.local_suppression import LocalSuppression
from sluice.masking.lossy_compression import LossyCompression
from sluice.masking.matrix_decomposition import MatrixDecomposition
from sluice.masking.mdav import Microaggregation
from sluice.masking.multiple_imputation import MultipleImputation
from sluice.masking.permutation import Permutation
from sluice.masking.plan import mask_frame
from sluice.masking.pram import Pram
from sluice.masking.projected_microaggregation import ProjectedMicroaggregation
from sluice.masking.random_orthogonal_matrix import RandomOrthogonalMatrix
from sluice.masking.rank_swapping import RankSwapping
from sluice.masking.recursive_histogram_sanitization import RecursiveHistogramSanitization
from sluice.masking.removal import Removal
from sluice.masking.resampling import Resampling
from sluice.masking.rounding import RandomRounding, Rounding
from sluice.masking.sampling import Sampling
from sluice.masking.sequential_trees import SequentialTrees
from sluice.masking.spectral_histogram_sanitization import SpectralHistogramSanitization
from sluice.masking.spectral_swapping import SpectralSwapping
from sluice.masking.top_bottom_coding import TopBottomCoding
from sluice.masking.univariate_microaggregation import UnivariateMicroaggregation

Step = (
    AdditiveNoise
    | Anatomization
    | DataDistortion
    | DataShuffling
    | DataSwapping
    | GlobalRecoding
    | Ipso
    | KMemberClustering
    | LocalSuppression
    | LossyCompression
    | MatrixDecomposition
    | Microaggregation
    | MultipleImputation
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

__all__ = [
    "AdditiveNoise",
    "Anatomization",
    "DataDistortion",
    "DataShuffling",
    "DataSwapping",
    "GlobalRecoding",
    "Ipso",
    "KMemberClustering",
    "LocalSuppression",
    "LossyCompression",
    "MatrixDecomposition",
    "Microaggregation",
    "MultipleImputation",
    "Permutation",
    "Pram",
    "ProjectedMicroaggregation",
    "RandomOrthogonalMatrix",
    "RandomRounding",
    "RankSwapping",
    "RecursiveHistogramSanitization",
    "Removal",
    "Resampling",
    "Rounding",
    "Sampling",
    "SequentialTrees",
    "SpectralHistogramSanitization",
    "SpectralSwapping",
    "Step",
    "TopBottomCoding",
    "UnivariateMicroaggregation",
    "mask_frame",
]
