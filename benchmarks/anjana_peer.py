"""anjana's k-anonymity of Adult, run by the interpreter that SLUICE_PEERS names: its time, and what its result loses.

    PYTHON benchmarks/anjana_peer.py FOLDER_OF_ADULT

anjana raises keys by a rule of thumb until the classes left over may be suppressed. Nothing of Sluice is imported here.
"""

import sys
from pathlib import Path
from time import process_time


def main(folder: Path) -> None:
    """Print one line for each suppression limit."""
    import pandas as pd
    from anjana.anonymity import k_anonymity

    frame = pd.read_csv(folder / "arx/adult.csv.gz", sep=";", dtype=str)
    hierarchies, widths = {}, {}
    for name in frame:
        text = (folder / f"hierarchies_arx/adult_hierarchy_{name}.csv").read_text(encoding="utf-8")
        columns = list(zip(*(line.split(";") for line in text.splitlines()), strict=True))
        hierarchies[name] = {level: list(column) for level, column in enumerate(columns)}
        widths[name] = [pd.Series(column).value_counts() for column in columns]
    for limit in (0, 4):
        begun = process_time()
        found = k_anonymity(frame.copy(), [], list(frame), 5, limit, hierarchies)
        seconds = process_time() - begun
        loss = 0.0
        for name in frame:
            fits = next(width for width in widths[name] if set(found[name]) <= set(width.index))
            kept = (found[name].map(fits) - 1).sum() / (len(hierarchies[name][0]) - 1)
            loss += (kept + len(frame) - len(found)) / len(frame) / len(frame.columns)
        print(f"anjana, {limit} %: {seconds:.1f} s, {len(frame) - len(found):,} suppressed, loss {loss:.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
