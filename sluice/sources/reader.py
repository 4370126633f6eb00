"""The process that reads a source, apart from everything else: `python -I -m sluice.sources.reader RECORDS ERRORS`.

On standard input it gets an order, as JSON: the source, with its secrets, and what may be touched to read it. It writes
to two pipes that it inherits: the batches, each an Arrow stream of its own, since a driver can give a column another
type in another batch; and, as JSON, the sentence of an error of ours or the kind of any other.

What it does not need it gives up before it loads a library: a hole in a driver, or in what reads a file, that the data
or a server make use of is no hole in the vault.
"""

import json
import mimetypes
import os
import resource
import sys
from importlib import import_module
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from sluice.sources.sandbox import confine

_MODELS = {
    "csv": ("csv_source", "CsvSource"),
    "parquet": ("arrow_source", "ParquetSource"),
    "arrow": ("arrow_source", "ArrowSource"),
    "fixed_width": ("fixed_width_source", "FixedWidthSource"),
    "excel": ("excel_source", "ExcelSource"),
    "stata": ("statistical_file", "StataSource"),
    "spss": ("statistical_file", "SpssSource"),
    "sas": ("statistical_file", "SasSource"),
    "sql": ("sql_source", "SqlSource"),
    "figures": ("figures_source", "FiguresSource"),
    "frequencies": ("figures_source", "FrequenciesSource"),
}
_PACKAGE = Path(__file__).resolve().parents[1]
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/nix/store", "/etc/ld.so.cache")
_TIME_ZONES = ("/etc/localtime", "/usr/share/zoneinfo")
_MACHINE = ("/proc/self/cgroup", "/sys/fs/cgroup", "/sys/devices/system/cpu")  # DuckDB asks how much it may use
_NAMES_AND_CERTIFICATES = (
    "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/gai.conf", "/etc/services",
    "/etc/ssl", "/etc/pki", "/usr/share/ca-certificates", "/etc/passwd",
)  # fmt: skip


def main(records: int, errors: int) -> None:
    order = json.load(sys.stdin)
    _limit_memory(order["memory"])
    try:
        confine(
            [Path(path) for path in order["files"]],
            own_folders(Path(order["workspace"]), network=order["ports"] != []),
            order["ports"],
        )
        _write(order, records)
    except Exception as error:
        report = {"kind": type(error).__name__, "says": _sentence(error), "lost": _is_lost(error)}
        with open(errors, "w", encoding="utf-8") as pipe:
            json.dump(report, pipe)
        os._exit(1)  # no library writes anything while it goes down
    os._exit(0)


def _limit_memory(most: int) -> None:
    """Of what is written to, on Linux: what is only reserved, and a file that is mapped, takes no memory."""
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # another takes a GiB at once, whatever it needs
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def own_folders(workspace: Path, network: bool) -> list[Path]:
    """What Python and its libraries are read from; no folder that the workspace lies in, and not the project's own."""
    installed = [entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    python = [f"{sys.base_prefix}/lib", f"{sys.base_prefix}/lib64", *installed]
    others = [*_LIBRARIES, *_TIME_ZONES, *_MACHINE, *(_NAMES_AND_CERTIFICATES if network else ())]
    return [_PACKAGE, *(path for path in map(Path, python + others) if not workspace.is_relative_to(path))]


def _write(order: dict[str, Any], records: int) -> None:
    mimetypes.knownfiles.clear()  # openpyxl would ask for the machine's lists of them, which may not be read any more
    if not order["pandas"]:
        sys.meta_path.insert(0, _WithoutPandas())
    import pyarrow as pa

    with pa.PythonFile(os.fdopen(records, "wb"), "w") as pipe:
        source = _source(order["source"])
        for table in source.tables(order["columns"], order["size"]):
            table = table.replace_schema_metadata({"remarks": source.remarks.written()})
            with pa.ipc.new_stream(pipe, table.schema) as stream:
                stream.write_table(table)


class _WithoutPandas(MetaPathFinder):
    """Arrow loads pandas where it is installed, which takes longer than all the rest and is not needed."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def _source(written: dict[str, Any]) -> Any:
    """Only what this source needs is loaded."""
    module, model = _MODELS[written["type"]]
    return getattr(import_module(f"sluice.sources.{module}"), model).model_validate(written)


def _sentence(error: Exception) -> str:
    from sluice.ground.errors import SluiceError

    return str(error) if isinstance(error, SluiceError) else ""


def _is_lost(error: Exception) -> bool:
    from sluice.ground.errors import TransportError

    return isinstance(error, TransportError)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
