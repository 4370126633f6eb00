"""Blocks: variables whose values left their record together, and where they went.

A step that moves several variables of a record jointly leaves what a person told in one place, though in another row:
who knows a part of it finds the block and reads the rest. To judge that, one has to know which row that is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sluice.ground.arrays import IntArray
from sluice.ground.comparable_values import Hashes
from sluice.ground.frame_columns import with_columns
from sluice.ground.record_rule import RecordRule
from sluice.ground.variables import Kind, Role, Variable, Variables, with_role
from sluice.masking.masking_step import MaskingStep
from sluice.masking.plan import draws_of, masked_by_step
from sluice.masking.redrawing import rules_on

_PLACE = "\0place"  # no variable of a contract can have this name
_OFTEN = 0.05  # least share of the rows in which variables stand together that moved apart in others


@dataclass(frozen=True)
class Block:
    """Variables that moved together.

    columns : two or more, in the order of the file
    rows    : shape (n,), for each original record the row of the original whose masked record holds its values of
              them; -1 where none does
    """

    columns: tuple[str, ...]
    rows: IntArray

    def among(self, kept: IntArray) -> "Block":
        """The same by the places of the records that a sample kept (rising rows of the original)."""
        place = np.full(len(self.rows) + 1, -1)
        place[kept] = np.arange(len(kept))
        return Block(self.columns, place[self.rows[kept]])


def moved_blocks(
    steps: Sequence[MaskingStep],
    frame: pd.DataFrame,
    variables: Variables,
    seed: np.random.SeedSequence,
    record_keys: Hashes | None = None,
    rules: Sequence[RecordRule] = (),
) -> tuple[Block, ...]:
    """The blocks that `apply_plan` with the same arguments moves; none where no step moves variables jointly.

    frame : typed by `variables`, any index (it is ignored)
    cost  : that of the plan up to its last step that does
    """
    last = max((at for at, step in enumerate(steps) if step.moves_jointly), default=-1)
    if last < 0:
        return ()
    masked = frame.reset_index(drop=True)
    own = np.arange(len(frame))
    source = dict.fromkeys(variables, own)  # of each variable: the original record of the value in each row
    current = dict(variables)
    # As many children as `apply_plan` spawns, and of a sequence that has spawned none yet.
    children = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key).spawn(len(steps))
    for number, (step, child) in enumerate(list(zip(steps, children, strict=True))[: last + 1], start=1):
        rng = np.random.default_rng(child)
        if step.moves_jointly:
            traced, places = _traced(step, masked, current)
            masked, _ = masked_by_step(traced, with_columns(masked, {_PLACE: places}), current | {_PLACE: _TRACER}, rng)
            moved = _rows_of(masked.pop(_PLACE).to_numpy(), places)
            for name in step.columns:
                source[name] = source[name][moved]
        else:
            draws = draws_of(step, None if record_keys is None else record_keys[own])
            kept = rules_on(step, rules, variables, current, steps[number:])
            masked, _ = masked_by_step(step, masked, current, rng, draws, kept)
            rows = masked.index.to_numpy()
            source = {name: held[rows] for name, held in source.items()}
            own = own[rows]
            masked = masked.reset_index(drop=True)
        current = step.released(current)
    return _blocks({name: held for name, held in source.items() if name in current}, own, len(frame))


_TRACER = Variable.model_construct(name=_PLACE, kind=Kind.INTEGER)  # its name would be refused


def _traced(step: MaskingStep, frame: pd.DataFrame, variables: Variables) -> tuple[MaskingStep, IntArray]:
    """The step on one more column, and that column: each record's place, or that of the first of its household."""
    places = np.arange(len(frame))
    household = with_role(variables, Role.HOUSEHOLD)
    if step.unit == "household" or (step.keeps_households and step.unit != "record" and household):
        codes, _ = pd.factorize(frame[household[0]])
        alone = codes < 0
        first = pd.Series(places).groupby(np.where(alone, codes.max(initial=-1) + 1 + places, codes)).transform("first")
        places = first.to_numpy()
    return step.moving(_PLACE), places


def _rows_of(found: IntArray, places: IntArray) -> IntArray:
    """For each row, the row whose values it got: of a household's members those at the same turn."""
    members: dict[int, IntArray] = dict(pd.Series(places).groupby(places).indices)  # type: ignore[arg-type]
    turns = pd.Series(places).groupby(places).cumcount().to_numpy()
    return np.array(
        [members[place][turn % len(members[place])] for place, turn in zip(found, turns, strict=True)], dtype=np.int64
    )


def _blocks(source: dict[str, IntArray], own: IntArray, records: int) -> tuple[Block, ...]:
    """What moved as a whole, and what several steps moved of which many records still hold parts together."""
    together: dict[bytes, list[str]] = {}
    for name, held in source.items():
        if not np.array_equal(held, own):
            together.setdefault(held.tobytes(), []).append(name)
    blocks = []
    for names in together.values():
        if len(names) > 1:
            rows = np.full(records, -1)
            rows[source[names[0]][::-1]] = own[::-1]  # of several rows that hold the same values, the first
            blocks.append(Block(tuple(names), rows))
    for sets in _often_together([source[names[0]] for names in together.values()], own):
        names = [name for at, each in enumerate(together.values()) if at in sets for name in each]
        in_order = tuple(name for name in source if name in names)
        blocks.append(Block(in_order, _most_of(np.column_stack([source[name] for name in in_order]), own, records)))
    return tuple(blocks)


def _often_together(sources: Sequence[IntArray], own: IntArray) -> list[set[int]]:
    """Sets of two or more that hold values of one other record in a share of the rows, each with one of the set."""
    from scipy.sparse.csgraph import connected_components  # loaded where it is needed

    links = np.array([[np.mean((a == b) & (a != own)) >= _OFTEN for a in sources] for b in sources])
    count, of = connected_components(links, directed=False) if len(sources) else (0, np.empty(0))
    found = [set(np.flatnonzero(of == at).tolist()) for at in range(count)]
    return [each for each in found if len(each) > 1]


def _most_of(held: IntArray, own: IntArray, records: int) -> IntArray:
    """For each record the row with most of its values, two at least; for the others rows that are left, so that what is
    found remains a share of all.

    held : shape (rows, variables), the original record of each value
    """
    counts = np.column_stack([(held == held[:, [at]]).sum(axis=1) for at in range(held.shape[1])])
    most, owner = counts.max(axis=1), held[np.arange(len(held)), counts.argmax(axis=1)]
    rows = np.full(records, -1)
    rising = np.argsort(most, kind="stable")  # of several rows with values of one record, that with most stays
    rising = rising[most[rising] > 1]
    rows[owner[rising]] = own[rising]
    left, without = np.setdiff1d(own, rows), own[rows[own] < 0]
    fill = min(len(left), len(without))
    rows[without[:fill]] = left[:fill]
    return rows
