"""Sluice: masking, disclosure risk, utility and tabular protection; in a notebook, on pandas DataFrames.

    import sluice

    risk = sluice.k_anonymity(survey, ["age", "sex", "region"])
    masked = sluice.mask(survey, [{"method": "rank_swapping", "columns": ["income"], "window": 0.05}], seed=1)
    sluice.assess(survey, masked)

Each function returns an object with figures, a sentence (`says`), a plot and a page for Jupyter; docs/notebook.md is a
tutorial. The functions stand above this package, with the contracts and the policies that they use. They are opened
here, and nowhere else, when they are first asked for: importing a method or a measure loads none of that.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tasks.workbench.assess import assess
    from tasks.workbench.attack_measures import reference_standard, singling_out
    from tasks.workbench.audit import audit
    from tasks.workbench.disassociate import disassociate
    from tasks.workbench.hierarchies import hierarchy
    from tasks.workbench.mask import mask
    from tasks.workbench.plans_compared import compare
    from tasks.workbench.protect import protect
    from tasks.workbench.record_measures import individual_risk, k_anonymity, suda

    __version__: str

__all__ = [
    "__version__",
    "assess",
    "audit",
    "compare",
    "disassociate",
    "hierarchy",
    "individual_risk",
    "k_anonymity",
    "mask",
    "protect",
    "reference_standard",
    "singling_out",
    "suda",
]

if not TYPE_CHECKING:  # for a type checker, what is not imported above is not there
    # The file of each function that does not bear its name.
    _FILES = {
        "compare": "plans_compared", "hierarchy": "hierarchies", "individual_risk": "record_measures",
        "k_anonymity": "record_measures", "reference_standard": "attack_measures", "singling_out": "attack_measures",
        "suda": "record_measures",
    }  # fmt: skip

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            found: object = version("sluice-sdc")
        elif name in __all__:
            from tasks import workbench

            found = getattr(import_module(f"{workbench.__name__}.{_FILES.get(name, name)}"), name)
        else:
            raise AttributeError(f"module 'sluice' has no attribute {name!r}")
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return list(__all__)
