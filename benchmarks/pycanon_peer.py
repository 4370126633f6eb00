"""What pycanon finds of a generalised file, run by the interpreter that SLUICE_PEERS names: its figures and its time.

    PYTHON benchmarks/pycanon_peer.py CSV SENSITIVE

All columns of the file but the sensitive one are quasi-identifiers. Nothing of Sluice is imported here.
"""

import sys
from pathlib import Path
from time import process_time


def main(file: Path, sensitive: str) -> None:
    """Print one line."""
    import pandas as pd
    from pycanon import anonymity

    frame = pd.read_csv(file, dtype=str)
    keys = [name for name in frame if name != sensitive]
    begun = process_time()
    found = {
        "k": anonymity.k_anonymity(frame, keys),
        "l": anonymity.l_diversity(frame, keys, [sensitive]),
        "t": anonymity.t_closeness(frame, keys, [sensitive]),
        "beta": anonymity.basic_beta_likeness(frame, keys, [sensitive]),
        "delta": anonymity.delta_disclosure(frame, keys, [sensitive]),
    }
    figures = ", ".join(f"{name} = {value:.4g}" for name, value in found.items())
    print(f"pycanon finds {figures}, in {process_time() - begun:.1f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
