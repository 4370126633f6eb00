"""Order within classes: a removed number whose order a released column keeps among people who are alike in others.

An age is released as its rank within occupation and sex, as a quantile, a standard score or the difference from a mean,
or by a map of each class's own, upwards in some and downwards in others. Whoever knows some people of a class puts
these in the order of the released column, and the next one below and above a record bounds its value: exactly, where
both have the same.

Classes are those of up to three other columns. They are looked for one after the other: by each the value changes less
from one record to the next than in a random order.

Source: Agrawal, Kiernan, Srikant and Xu (2004), encryption that keeps order; Naveed, Kamara and Wright (2015), who sort
known and encrypted values beside each other. Differs from them: within classes that are found, and from part of the
people.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray

_LOOKED_AT = 2_000  # people among whom classes are looked for
_PLACES = 20  # values of a column that are an order
_CLASSES = 200  # partitions that are tried with each
_KEPT = 8  # of each number of columns
_IN_A_CLASS = 0.6  # of the people, at least, have somebody before them in their class
_SMOOTHER = 0.4  # steps of the value from one record to the next, of those in a random order; above, it only goes along
_DEEPER = 0.97  # of the steps with a class less, at most: else the class adds nothing
_MOST_COLUMNS = 3
_MOST_LABELS = 2**16 - 2**12  # of classes that nobody has counted yet


@dataclass(frozen=True)
class Part:
    """One column, or a part of its values, as codes from 0, in the order of the values; or a sum of several columns."""

    column: str
    codes: IntArray
    levels: int
    whole: bool = False
    made_of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Order:
    """A column, and the classes within which the value follows its order.

    steps : of the value from one person to the next, of those in a random order; 0 where nothing is left open
    """

    column: Part
    within: tuple[Part, ...]
    steps: float

    @property
    def columns(self) -> tuple[str, ...]:
        first = self.column.made_of or (self.column.column,)
        return tuple(dict.fromkeys((*first, *(part.column for part in self.within))))

    @property
    def labels(self) -> IntArray:
        """The class of each record, shape (n,)."""
        labels = np.zeros(len(self.column.codes), np.int64)
        for part in self.within:
            labels = np.unique(labels * part.levels + part.codes, return_inverse=True)[1]
        return labels


def orders_of(
    values: FloatArray | IntArray,
    in_order: bool,
    parts: Sequence[Part],
    own: Collection[str],
    rows: IntArray,
    rng: np.random.Generator,
    columns: Sequence[Part] | None = None,
) -> list[Order]:
    """Orders that the values follow, the best first.

    values   : (n,) codes of the variable; in_order: they are those of ordered values
    parts    : of the released columns, whole ones first
    own      : columns of which each order needs one; where there are none, any
    rows     : the people who may be looked at
    columns  : whose order may be followed; those of the parts that are whole, by default
    cost     : for 40 columns some 10,000 sorts of 2,000 people, half a second
    """
    rows = rows if len(rows) <= _LOOKED_AT else np.sort(rng.choice(rows, _LOOKED_AT, replace=False))
    search = _Search(values[rows], in_order, rng)
    columns = [part for part in (columns or parts) if part.whole and part.levels > _PLACES]
    classes = [part for part in parts if part.levels * 3 <= len(rows)]
    classes = sorted(classes, key=lambda part: not part.whole)[:_CLASSES]
    few = {id(part): part.codes[rows] for part in (*columns, *classes)}
    sorts = {id(part): np.argsort(few[id(part)], kind="stable") for part in columns}
    everybody = np.zeros(len(rows), np.int64)
    found = [Order(column, (), search.steps(sorts[id(column)], everybody)) for column in columns]
    ends = [(order, everybody) for order in found]
    for _ in range(_MOST_COLUMNS):
        longer: list[tuple[Order, IntArray]] = []
        for order, labels in ends:
            for part in classes:
                if part.column in (order.column.column, *(each.column for each in order.within)):
                    continue
                crossed = labels * part.levels + few[id(part)]
                if int(labels.max()) * part.levels >= _MOST_LABELS:
                    crossed = np.unique(crossed, return_inverse=True)[1]
                steps = search.steps(sorts[id(order.column)], crossed, (*map(id, order.within), id(part)))
                if steps <= order.steps * _DEEPER:
                    longer.append((Order(order.column, (*order.within, part), steps), crossed))
        ends = [(order, np.unique(labels, return_inverse=True)[1]) for order, labels in _best(longer)]
        found += [order for order, _ in ends]
    kept = [each for each in found if each.steps <= _SMOOTHER and (not own or {*each.columns} & {*own})]
    return sorted(kept, key=lambda each: each.steps)[:_KEPT]


def _best(orders: list[tuple[Order, IntArray]]) -> list[tuple[Order, IntArray]]:
    """The best of all, and the best of each of the best columns."""
    orders = sorted(orders, key=lambda each: each[0].steps)
    by_column = {each[0].column.column: each for each in reversed(orders)}
    chosen = [*orders[:_KEPT], *sorted(by_column.values(), key=lambda each: each[0].steps)[:_KEPT]]
    return list({id(each[0]): each for each in chosen}.values())


class _Search:
    """How much a value changes from one person to the next in an order within classes."""

    def __init__(self, values: FloatArray | IntArray, in_order: bool, rng: np.random.Generator) -> None:
        self._in_order = in_order
        _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
        places = np.cumsum(counts) - counts / 2  # ranks: a few large amounts do not count for more
        self._values = places[codes] if in_order else codes
        self._random = rng.permutation(len(values))
        self._usual: dict[tuple[int, ...], float] = {}

    def steps(self, order: IntArray, labels: IntArray, of: tuple[int, ...] = ()) -> float:
        """Of those in a random order; 1 where hardly anybody has somebody before them.

        of : what the labels were made by
        """
        labels = labels.astype(np.uint16)  # so that they are sorted by counting
        step, known = self._steps(order, labels)
        if known < _IN_A_CLASS * len(labels):
            return 1.0
        if of not in self._usual:
            self._usual[of] = self._steps(self._random, labels)[0]
        return step / self._usual[of] if self._usual[of] else 1.0

    def _steps(self, order: IntArray, labels: IntArray) -> tuple[float, int]:
        people = order[np.argsort(labels[order], kind="stable")]
        of, values = labels[people], self._values[people]
        same = of[1:] == of[:-1]
        step = np.abs(np.diff(values)) if self._in_order else values[1:] != values[:-1]
        return float(step[same].mean()) if same.any() else 0.0, int(np.count_nonzero(same))


def between(
    order: Order, labels: IntArray, values: IntArray, learned: IntArray, rows: IntArray, near: int
) -> tuple[IntArray, IntArray]:
    """The smallest and the largest value that the people next to each record in the order have.

    labels  : (n,) `order.labels`
    values  : (n,) codes
    learned : the people who are known
    rows    : who is read
    near    : so many before, and as many after; who is known to have the same place comes first
    returns : two arrays of the length of `rows`. At an end of a class, where there are fewer, nothing bounds the value
              on the side on which the values of the class go on
    cost    : O(learned log learned + rows log learned)
    """
    codes, levels = order.column.codes, order.column.levels
    place = labels * levels + codes
    by_place = np.lexsort((values[learned], place[learned]))
    known = learned[by_place]
    of, shown, asked = place[known], values[known], place[rows]
    first, after = np.searchsorted(of, asked, "left"), np.searchsorted(of, asked, "right")
    more = np.maximum(0, near - (after - first) // 2)
    start = np.searchsorted(of, labels[rows] * levels, "left")
    end = np.searchsorted(of, (labels[rows] + 1) * levels, "left")
    left, right = first - more, after + more
    low, high = _range(shown, np.maximum(left, start), np.minimum(right, end))
    up = _goes_up(shown, start, end)
    below, above = (left < start), (right > end)
    least, most = 0, int(values.max(initial=0))
    low = np.where((below & up) | (above & ~up), least, low)
    high = np.where((above & up) | (below & ~up), most, high)
    return low, high


def _goes_up(shown: IntArray, start: IntArray, end: IntArray) -> BoolArray:
    """Whether the values of a class are larger in the second half of its order, for each class asked about."""
    total = np.append(0, np.cumsum(shown))
    middle = (start + end) // 2
    with np.errstate(divide="ignore", invalid="ignore"):
        first = (total[middle] - total[start]) / (middle - start)
        second = (total[end] - total[middle]) / (end - middle)
    return np.asarray(~(second < first))


def _range(values: IntArray, start: IntArray, end: IntArray) -> tuple[IntArray, IntArray]:
    """The smallest and largest of the values from start to before end; of none, all that there are.

    cost : O((values + asked) log values)
    """
    n = len(values)
    low, high = np.full(len(start), 0), np.full(len(start), int(values.max(initial=0)))
    size = end - start
    smallest, largest = values, values
    for power in range(max(1, n).bit_length()):
        width = 1 << power
        if power:
            half = width // 2
            smallest = np.minimum(smallest[: n - width + 1], smallest[half : half + n - width + 1])
            largest = np.maximum(largest[: n - width + 1], largest[half : half + n - width + 1])
        here = np.flatnonzero((size >= width) & (size < 2 * width))
        if len(here):
            one, two = start[here], end[here] - width
            low[here] = np.minimum(smallest[one], smallest[two])
            high[here] = np.maximum(largest[one], largest[two])
        if width * 2 > n:
            break
    return low, high
