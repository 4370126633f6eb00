"""The notebook API: one file for each function that `import sluice` offers on DataFrames.

The functions are those of a release, without a vault, a ledger or a file: nothing is written to disk. `sluice` opens
this package when a function is first used, so that its own import stays light.
"""
