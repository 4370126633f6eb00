"""What the attacks on the masking methods do, and reach on common files, for the catalogue of methods.

Printed by `python -m benchmarks transparency`.
"""

MEASURED = {
    "additive_noise": (
        "Compare each released record with what the known one is expected to become, in units of the scatter. On "
        "12 variables of Census (amount: 0.1): 39 % found; 30 % surely found; 34 % of the values computed, 23 % "
        "without."
    ),
    "anatomization": (
        "Find a person's group and guess the value most frequent in it. On 1 variable of Adult (l: 3): 33 % of the"
        " values computed, 13 % without."
    ),
    "bottom_up_local_recoding": (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On "
        "12 variables of Census (k: 5): 10 % found; 0 % surely found."
    ),
    "data_distortion": (
        "Take the records that can have the person's rank in every variable; equal values share their ranks. On 12"
        " variables of Census: 100 % found; 100 % surely found."
    ),
    "data_shuffling": (
        "Compare values by the distances that masking leaves between true pairs, learned on other people's. On 6 "
        "variables of Census: 0 % found; 0 % surely found."
    ),
    "data_swapping": (
        "Compare values by the distances that masking leaves between true pairs, learned on other people's. On 1 "
        "variable of Adult (swap_rate: 0.1): 0 % found; 0 % surely found."
    ),
    "generalization": (
        "No attack of its own: every attack repeats the rule, and compares original and release after it."
    ),
    "global_recoding": (
        "No attack of its own: every attack repeats the rule, and compares original and release after it."
    ),
    "ipso": (
        "Compare values by the distances that masking leaves between true pairs, learned on other people's. On 3 "
        "variables of Census: 0 % found; 0 % surely found."
    ),
    "item_generalization": (
        "No attack of its own: every attack repeats the rule, and compares original and release after it."
    ),
    "item_suppression": (
        "Take the released set with the most and rarest items of which every item is known. On 1 variable of "
        "Groceries (k: 5, m: 2): 61 % found; 54 % surely found."
    ),
    "k_member_clustering": (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On "
        "12 variables of Census (k: 5): 14 % found; 0 % surely found."
    ),
    "k_nearest_clustering": (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On "
        "12 variables of Census (k: 5): 13 % found; 0 % surely found."
    ),
    "local_suppression": (
        "Rule out the values with which the rest of the record would have been frequent enough to stay. On 8 "
        "variables of Adult (k: 5): 3 % surely found."
    ),
    "lossy_compression": (
        "Compare each released record with what the known one is expected to become, in units of the scatter. On "
        "12 variables of Census (quality: 80): 86 % found; 85 % surely found."
    ),
    "matrix_decomposition": (
        "Compare each released record with what the known one is expected to become, in units of the scatter. On "
        "12 variables of Census (rank: 2): 100 % found; 100 % surely found."
    ),
    "microaggregation": (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On "
        "12 variables of Census (k: 5): 16 % found; 0 % surely found."
    ),
    "mondrian": (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On "
        "12 variables of Census (k: 5): 6 % found; 0 % surely found."
    ),
    "multiple_imputation": (
        "Compare values by the distances that masking leaves between true pairs, learned on other people's. On 5 "
        "variables of Census (share: 0.5): 46 % found; 35 % surely found; 50 % of the values computed, 0 % "
        "without."
    ),
    "one_pass_k_means": (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On "
        "12 variables of Census (k: 5): 13 % found; 0 % surely found."
    ),
    "permutation": (
        "Guess the most frequent value of a person's group, or of those in it who share one known value. On 6 "
        "variables of Census: 100 % of the values computed, 6 % without."
    ),
    "pram": (
        "Weigh each released category by its probability given the known one. On 8 variables of Adult (retention: "
        "0.8): 23 % found; 14 % surely found."
    ),
    "projected_microaggregation": (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On "
        "12 variables of Census (k: 5): 11 % found; 0 % surely found."
    ),
    "random_orthogonal_matrix": (
        "Compare each released record with what the known one is expected to become, in units of the scatter. On "
        "12 variables of Census (strength: 0.5): 16 % found; 8 % surely found."
    ),
    "random_rounding": (
        "Weigh each released multiple by the probability that the known value was rounded to it. On 12 variables "
        "of Census (base: 10000): 23 % found; 14 % surely found."
    ),
    "rank_swapping": (
        "Intersect the windows of all swapped variables. On 12 variables of Census (window: 0.1): 95 % found; 95 %"
        " surely found."
    ),
    "recursive_histogram_sanitization": (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On "
        "2 variables of Census (k: 5): 9 % found; 0 % surely found."
    ),
    "removal": ("No attack of its own: what was removed is not there; what stays is judged as it is."),
    "resampling": (
        "Take the records that can have the person's rank in every variable; equal values share their ranks. On 12"
        " variables of Census (samples: 5): 100 % found; 100 % surely found."
    ),
    "rounding": ("No attack of its own: every attack repeats the rule, and compares original and release after it."),
    "sampling": (
        "No attack of its own: every attack is played on people known to be in the sample, so that it hides nobody."
    ),
    "sequential_trees": (
        "Tell participants by what was learned, look for rare combinations of theirs, and read single variables. "
        "On 10 variables of Adult: 25 % more right of those who took part than of others, by what was learned of "
        "members and others, where the method is run on one half of the people; 17 % more right of those who took "
        "part than of others, of education or occupation, read off the nearest records, where the method is run on"
        " one half of the people; 19 % more right of those who took part than of others, of the combinations of 3 "
        "values that one person alone holds, where the method is run on one half of the people."
    ),
    "spectral_histogram_sanitization": (
        "Take the nearest centre by the distance that formed the groups, numbers by their standard deviations. On "
        "12 variables of Census (k: 5): 8 % found; 0 % surely found."
    ),
    "spectral_swapping": (
        "Compare values by the distances that masking leaves between true pairs, learned on other people's. On 12 "
        "variables of Census: 0 % found; 0 % surely found."
    ),
    "top_bottom_coding": (
        "No attack of its own: every attack repeats the rule, and compares original and release after it."
    ),
    "univariate_microaggregation": (
        "Intersect the two or three groups of each variable that a value can be in. On 12 variables of Census (k: "
        "5): 100 % found; 100 % surely found."
    ),
}
