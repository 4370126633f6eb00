"""Lists of texts, as a column of a Parquet file may hold them.

It is read in a process of its own, without pandas.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

LIST_MARK = "\x02"
"""Before each part of a cell that was a list of texts at its source."""


def is_list(kind: pa.DataType) -> bool:
    """Whether cells are lists of texts."""
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    return lists and bool(pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type))


def listed_texts(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Each list of texts as one text, `LIST_MARK` before each of its parts; null where the list is, or is empty."""
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    parts = pc.fill_null(pc.list_flatten(array).cast(pa.large_string()), "")
    sizes = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    marked = pc.binary_join_element_wise(
        pa.scalar(LIST_MARK, pa.large_string()), parts, pa.scalar("", pa.large_string())
    )
    starts = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int64())
    texts = pc.binary_join(pa.LargeListArray.from_arrays(starts, marked), pa.scalar("", pa.large_string()))
    return pc.if_else(pa.array(sizes > 0), texts, None).cast(pa.string())
