"""Extending: what checks of other distributions derive from and use, by one name wherever Sluice is installed.

A wheel has `policies` below `sluice_sdc`, a working tree beside `sluice`. What else a check or a method needs is in
`sluice` itself.
"""

from policies.reported_shares import disclosed_share
from policies.rules.attack_rule import AttackRule

__all__ = ["AttackRule", "disclosed_share"]
