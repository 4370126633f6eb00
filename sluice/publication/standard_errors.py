"""Standard errors: what a program prints of a masked file, and how to get what it should print.

Sources: Raab, Nowok and Dibben (2016), Practical data synthesis for large samples, of one synthesis: the variance is
that of the file times 1 + k/n, for k records drawn by a model of n. Reiter (2003), Inference for partially synthetic
data: of several, their mean variance and the variance between them over their number.
"""

from collections.abc import Iterator, Sequence
from math import sqrt


def standard_errors(
    masked: Sequence[str], drawn: Sequence[str], weight: str | None, lost_weight: str | None
) -> tuple[str, ...]:
    """Sentences for the codebook; none where nothing was masked and nothing weighs.

    masked      : released variables of which a step changed values
    drawn       : those among them whose values a model drew, by as many records as it draws
    weight      : the released weight
    lost_weight : the original's weight, where it was not released
    """
    return tuple(_sentences(masked, drawn, weight, lost_weight))


def _sentences(
    masked: Sequence[str], drawn: Sequence[str], weight: str | None, lost_weight: str | None
) -> Iterator[str]:
    if masked:
        yield (
            "A program that reads this file prints the standard errors of data that were not masked. They say nothing "
            "of what masking added."
        )
    if drawn:
        yield (
            f"The values of {', '.join(drawn)} were drawn from a model. In an analysis of these alone, multiply a "
            f"printed standard error by {sqrt(2):.2f}: the variance doubles, as the file has as many records as its "
            "model was made of (Raab, Nowok and Dibben 2016). In an analysis with others, too, the factor lies "
            "between 1 and that."
        )
        yield (
            "If the publisher makes several syntheses, repeat the analysis in each. The estimate is the mean. Its "
            "variance is the mean of the printed variances, plus the variance between the estimates divided by their "
            "number (Reiter 2003)."
        )
    if others := [name for name in masked if name not in drawn]:
        yield (
            f"For {', '.join(others)}, use the correction named under the variable, where there is one. Elsewhere a "
            "printed standard error is a lower bound: call a result open that lies within two of them of a threshold."
        )
    if weight is not None:
        yield (
            f"The weight {weight} needs robust standard errors, as of svyglm in R or pweight in Stata. They take the "
            "records as drawn one by one. Strata, clusters and replicate weights of a survey are not in the file: if "
            "it had some, ask the publisher for standard errors by them."
        )
    if lost_weight is not None:
        yield (
            f"The weight {lost_weight} was not released. Means, shares and totals are of the records in the file, not "
            "of the population that they stand for."
        )
