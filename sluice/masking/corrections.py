"""What whoever analyses a masked variable has to allow for, by method: bias, and how to correct for it.

Methods whose parameters make a difference say more (`MaskingStep.correction`). Sources: Torra (2013), method by method;
for the corrections, Gouweleeuw, Kooiman, Willenborg and de Wolf (1998) of PRAM, Fuller (1993) of noise, and Reiter
(2005) of partly synthetic data (docs/references.md).
"""

from collections.abc import Mapping

_GROUP_MEANS = (
    "Means of the whole file are right; means of small subgroups are drawn towards those of their neighbours. "
    "Variances and standard errors come out too small, and nothing in the file tells by how much: do not test "
    "hypotheses on a variance or a tail."
)
_OF_CLUSTERS = (
    f"{_GROUP_MEANS} Where a value is a range or a wider group instead, it is true: analyse it as interval-censored, "
    "or by its group; the middle of a range stands for it only roughly."
)
_SYNTHETIC = (
    "The values are draws from a model of the data: relations that the model does not hold are not in the file. One "
    "set of draws is published, so that standard errors come out too small, the more so the more values were drawn: "
    "take results near a limit as open, and ask the publisher to repeat an analysis on the original."
)

CORRECTIONS: Mapping[str, str] = {
    "additive_noise": (
        "Means are right but for chance. The noise adds to the variance; its share of the original variance is "
        "published. A slope on a noisy predictor is too flat; divide by the share of the variance that is not noise."
    ),
    "anatomization": (
        "Shares of the sensitive values in the file and in each numbered group are exact. A person's own value is "
        "not told: join by the group's number, and give each value in the group the same probability. Associations "
        "with the other variables come out too weak."
    ),
    "bottom_up_local_recoding": _OF_CLUSTERS,
    "data_distortion": (
        "Quantiles and moments are those of the family that was fitted, not of the data. Unless values were given "
        "out by rank, associations with other variables are lost: do not cross the variable with another."
    ),
    "data_shuffling": (
        "Each variable by itself needs no correction: its values are those that were collected. Rank correlations "
        "are right but for chance; other measures of association, and means of subgroups, only as far as these go "
        "with the ranks."
    ),
    "data_swapping": (
        "Tables without the area need no correction. Tables by area do not show how many units were swapped: "
        "differences between areas come out too small, by about the share of swapped units, which the publisher can "
        "tell."
    ),
    "generalization": (
        "Counts of the groups need no correction, but for records or values that were suppressed: those are the rare "
        "ones, so treat them as missing not at random. Of numbers in groups, estimate means by interval-censored "
        "methods, not by the middle of a group."
    ),
    "global_recoding": (
        "Counts of the new categories need no correction. Of numbers in intervals, estimate means by interval-censored "
        "methods; the middle of an open interval means nothing."
    ),
    "ipso": (
        "Linear regressions on the variables that were not masked give the original coefficients (method B and C), "
        "and C the residual variance, too. Distributions, quantiles and what is not linear are those of the model: "
        + _SYNTHETIC
    ),
    "item_generalization": (
        "Counts of the released items and groups need no correction. An item that is in a group is nowhere told from "
        "the others of the group."
    ),
    "item_suppression": (
        "Counts of an item are lower bounds: single items were taken out of sets, seldom ones first. An item that is "
        "not in a set may have been in it; rules of association come out too weak."
    ),
    "k_member_clustering": _OF_CLUSTERS,
    "k_nearest_clustering": _OF_CLUSTERS,
    "local_suppression": (
        "Values are missing because their combination was rare, so they are not missing at random: an analysis of "
        "complete records is biased towards the common. Use all records that a question needs, impute from the "
        "others, and show how far the result moves if the missing are all of one kind."
    ),
    "lossy_compression": (
        "No moment is exact, and no factor corrects it. Use it for pictures and rough shapes; ask the publisher to "
        "repeat an analysis that matters."
    ),
    "matrix_decomposition": (
        "Variances come out too small and correlations too strong, as only the main directions were kept; nothing in "
        "the file corrects it. Means are right with the singular value decomposition."
    ),
    "microaggregation": _GROUP_MEANS,
    "mondrian": _OF_CLUSTERS,
    "multiple_imputation": _SYNTHETIC,
    "one_pass_k_means": _OF_CLUSTERS,
    "permutation": (
        "Each variable by itself needs no correction, in each group in which it was permuted. Its association with "
        "other variables within these groups is lost: cross it with nothing but the grouping variables."
    ),
    "pram": (
        "A frequency that was counted is that of the changed categories. With the published matrix P, whose rows are "
        "original categories and whose columns are released ones, the original frequencies t are estimated from the "
        "counted ones c by t = inverse(P transposed) c."
    ),
    "projected_microaggregation": _GROUP_MEANS,
    "random_orthogonal_matrix": (
        "Means, variances, covariances and linear regressions among these variables need no correction. Nothing else "
        "is of the data: no distribution, no quantile, no subgroup, and no relation to other variables."
    ),
    "random_rounding": (
        "Means and totals are right but for chance. Rounding to multiples of b adds to the variance, on average "
        "b^2/6 where values are spread evenly between the multiples: take that off."
    ),
    "rank_swapping": (
        "Each variable by itself needs no correction: its values are those that were collected. Correlations with "
        "other variables and differences between subgroups come out too small, the more the wider the window; no "
        "factor is known."
    ),
    "recursive_histogram_sanitization": _GROUP_MEANS,
    "removal": "The variable is not in the file.",
    "resampling": (
        "Quantiles and rank correlations are nearly right. Variances come out a little too small, as each value is an "
        "average over samples at its rank."
    ),
    "rounding": (
        "Rounding to multiples of b adds about b^2/12 to the variance where b is small against the spread "
        "(Sheppard): take that off. Means are right but for chance. Points that are not evenly spaced have no such "
        "factor."
    ),
    "sampling": (
        "The file is a random sample of the records. Multiply totals by the inverse of the sampling fraction, unless "
        "a weight does so; means and shares need none. Of a fraction f, standard errors are those of a simple random "
        "sample times the square root of 1 - f, where they are of the records that it was drawn from."
    ),
    "sequential_trees": _SYNTHETIC,
    "spectral_histogram_sanitization": _GROUP_MEANS,
    "spectral_swapping": (
        "Means, variances and correlations among these variables are right but for chance. Single distributions, "
        "subgroups, and relations to other variables are not."
    ),
    "top_bottom_coding": (
        "Medians and other quantiles within the limits need no correction. Variances do, and so do means, unless the "
        "lumped values bear their mean: treat these as censored at the limit, as in a Tobit model, or fit a tail "
        "(Pareto)."
    ),
    "univariate_microaggregation": (
        "Each distribution and the correlations are nearly right, variances a little too small. Single values are "
        "means of groups of neighbours."
    ),
}
