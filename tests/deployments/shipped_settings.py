"""Every setting that a shipped file of an installation names, and what is known of such names."""

import re
from functools import cache
from pathlib import Path

from prefect.settings import Settings as PrefectSettings

from sluice.settings import PREFIX, Settings

ROOT = Path(__file__).resolve().parents[2]
DEPLOYMENTS = ROOT / "deployments"

_NAME = re.compile(r"\b(?:SLUICE|PREFECT)_[A-Z0-9_]+\b")
_INPUTS = {"PREFECT_PASSWORD", "PREFECT_AUTH"}  # of the compose file alone: they become parts of settings


def named_settings(text: str) -> set[str]:
    return set(_NAME.findall(text)) - _INPUTS


@cache
def known_settings() -> frozenset[str]:
    """The names that Sluice and this version of Prefect read."""
    ours = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    prefect = PrefectSettings().to_environment_variables(exclude_unset=False)
    return frozenset(ours | set(prefect) | _aliases(PrefectSettings))


def _aliases(model: type) -> set[str]:
    """Every environment variable that a model of Prefect's settings, or a part of it, accepts."""
    found: set[str] = set()
    prefix = model.model_config.get("env_prefix", "").upper()  # type: ignore[attr-defined]
    for name, field in model.model_fields.items():  # type: ignore[attr-defined]
        part = field.annotation
        if isinstance(part, type) and hasattr(part, "model_fields"):
            found |= _aliases(part)
        found.add(f"{prefix}{name}".upper())
        choices = getattr(field.validation_alias, "choices", [])
        found |= {str(choice).upper() for choice in choices}
    return found
