"""Waivers outside any release: a list as in a policy, in a YAML file or in memory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from policies.waivers import Waiver
from sluice.documents.document_reading import parse_document, read_yaml


class _Waivers(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    waivers: tuple[Waiver, ...] = Field(min_length=1, description="a list, as in a policy")


def read_waivers(path: Path) -> tuple[Waiver, ...]:
    """Those of a file that holds a list of them, alone or under `waivers`. Raises DocumentError."""
    return parse_document(_Waivers, read_yaml(path, list_is="waivers"), str(path)).waivers


def waivers_of(written: Sequence[Any]) -> tuple[Waiver, ...]:
    """Those of a list of mappings. Raises DocumentError."""
    given = [waiver.model_dump() if isinstance(waiver, Waiver) else waiver for waiver in written]
    return parse_document(_Waivers, {"waivers": given}, "waivers").waivers
