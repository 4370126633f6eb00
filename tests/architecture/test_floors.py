"""The house stands: imports run down, the flow reads like its picture, every method is known, tested and documented."""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Container, Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from policies.rules.rules import AttackPolicyRule, PolicyRule, rules
from policies.rules.rules import catalogue as rule_catalogue
from sluice.masking.method_catalogue import catalogue, in_full, methods

ROOT = Path(__file__).resolve().parents[2]
BELOW_TASKS = ("sluice", "schemas", "policies")
PURE = ("masking", "generalization", "risk", "utility", "tabular")


@cache
def imports_in(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """What a file imports, at the top, within functions and for type checkers alone."""
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return tuple(node for node in tree if isinstance(node, (ast.Import, ast.ImportFrom)))


def imports_of(path: Path) -> set[str]:
    """Top-level packages that a file imports."""
    names: set[str] = set()
    for node in imports_in(path):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.servers
def test_the_floors_are_kept() -> None:
    run = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout
    assert re.search(r"[1-9]\d* kept, 0 broken", run.stdout)


def modules() -> dict[str, Path]:
    """Every module of the product by its dotted name; a package is its __init__.py."""
    files = [path for package in (*BELOW_TASKS, "tasks", "flows") for path in (ROOT / package).rglob("*.py")]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def imports_within(path: Path, known: Container[str]) -> set[str]:
    """The modules of the product that a file names in an import."""
    found: set[str] = set()
    for node in imports_in(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in known else node.module)
    return {name for name in found if name in known}


def circles(imports: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The groups of modules that import each other, however many steps it takes."""
    names = sorted(imports)
    place = {name: number for number, name in enumerate(names)}
    edges = [(place[name], place[other]) for name in names for other in imports[name] if other != name]
    graph = coo_array(([1] * len(edges), tuple(zip(*edges, strict=True))), shape=(len(names), len(names)))
    _, group = connected_components(graph, connection="strong")
    members = [[name for name in names if group[place[name]] == number] for number in set(group.tolist())]
    return sorted(circle for circle in members if len(circle) > 1)


@pytest.mark.chain
def test_no_files_import_each_other_in_a_circle() -> None:
    known = modules()
    assert circles({name: imports_within(path, known) for name, path in known.items()}) == []


def test_a_circle_would_be_found() -> None:
    assert circles({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a", "d"]}) == [["a", "b", "c"]]


@pytest.mark.chain
@pytest.mark.parametrize("package", BELOW_TASKS)
def test_prefect_is_known_to_tasks_and_flows_only(package: str) -> None:
    guilty = [str(path) for path in (ROOT / package).rglob("*.py") if "prefect" in imports_of(path)]
    assert guilty == []


def test_the_search_for_prefect_finds_it_where_it_is() -> None:
    assert "prefect" in imports_of(ROOT / "tasks" / "step.py")
    assert "prefect" in imports_of(ROOT / "flows" / "release.py")


@pytest.mark.parametrize("room", PURE)
def test_methods_and_measures_read_no_clock_and_no_disk(room: str) -> None:
    forbidden = {"yaml", "sqlalchemy", "duckdb", "datetime", "time", "random", "os"}
    for path in (ROOT / "sluice" / room).rglob("*.py"):
        found = imports_of(path) & forbidden
        assert not found, f"{path.name} imports {found}"
        assert not re.search(
            r"(?<!Image\.)\bopen\(|read_text|write_text|np\.random\.(seed|rand|normal)\(", path.read_text()
        ), path


def in_order(body: str, *steps: str) -> bool:
    places = [body.index(step) for step in steps]
    return places == sorted(places)


def test_the_flow_fits_one_screen_and_names_the_steps_in_order() -> None:
    from flows.chain import records, release, tables

    chain, of_records, of_tables = (inspect.getsource(function) for function in (release, records, tables))
    assert len("".join((chain, of_records, of_tables)).splitlines()) <= 45
    assert in_order(chain, "ingest(product", "validate(release", "judge(release", "approve(release", "publish(release")
    assert in_order(of_records, "check(release)", "mask(release)", "check(release, masked", "evaluate(release")
    assert in_order(of_tables, "tabulate(release)", "protect(release", "audit(release")


VERBS = {
    "ingest": ("ingest", "validate"),
    "record_steps": ("check", "mask", "evaluate"),
    "table_protection": ("tabulate", "protect"),
    "table_audit": ("audit",),
    "decide": ("decide", "approve"),
    "report": ("report",),
    "publish": ("publish",),
    "settle": ("settle",),
}


@pytest.mark.parametrize("file", VERBS)
def test_no_file_of_verbs_imports_another_and_each_verb_has_a_test(file: str) -> None:
    assert not imports_within(ROOT / "tasks" / f"{file}.py", {f"tasks.{other}" for other in VERBS})
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "tasks").glob("test_*.py")]
    for verb in VERBS[file]:
        imported = re.compile(rf"^from tasks\.{file} import .*\b{verb}\b", re.MULTILINE)
        assert any(imported.search(text) for text in tests), f"no test in tests/tasks imports {verb}"


@pytest.mark.parametrize("method", sorted(methods()))
def test_every_masking_method_has_tests_of_its_own(method: str) -> None:
    """Beside those of tests/masking/test_contract.py, in which each has a promise."""
    module = inspect.getmodule(methods()[method])
    assert module is not None
    name = module.__name__.rsplit(".", 1)[-1]
    mirrored = f"test_{name}.py"
    found = [*(ROOT / "tests" / "masking").rglob(mirrored)]
    folder = module.__name__.split(".")[-2]
    assert len(found) == 1, f"{method} needs tests of its own, in tests/masking/{folder}/{mirrored}"
    assert f"from {module.__name__} import" in found[0].read_text(encoding="utf-8"), f"{mirrored} does not import it"


def test_the_catalogue_of_methods_is_the_one_in_the_docs() -> None:
    written = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    assert written == catalogue(), "run: sluice docs methods > docs/methods.md"


@pytest.mark.parametrize("method", sorted(methods()))
def test_every_method_names_its_source(method: str) -> None:
    assert in_full(method).splitlines()[-1].startswith("Source")


def test_the_catalogue_of_rules_is_the_one_in_the_docs() -> None:
    written = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert written == rule_catalogue(), "run: sluice docs rules > docs/rules.md"


@pytest.mark.parametrize("name", sorted(rules(PolicyRule) | rules(AttackPolicyRule)))
def test_every_rule_has_tests_and_says_what_it_asks(name: str) -> None:
    model = (rules(PolicyRule) | rules(AttackPolicyRule))[name]
    assert (inspect.getdoc(model) or "").splitlines()[0].endswith(".")
    tested = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "policies").rglob("test_*.py"))
    mentioned = f'"{name}"' in tested or model.__name__ in tested
    assert mentioned, f"no test names {name}: give it a promise in tests/policies/rules/test_contract.py"


def test_editor_schemas_are_those_of_the_models() -> None:
    import json

    from flows.json_schemas import DOCUMENTS, json_schema

    for name, model in DOCUMENTS.items():
        written = json.loads((ROOT / name).read_text(encoding="utf-8"))
        assert written == json.loads(json.dumps(json_schema(model))), f"{name} is old; run: sluice schemas ."


def test_no_file_is_a_drawer_for_odds_and_ends() -> None:
    names = {path.name for package in (*BELOW_TASKS, "tasks", "flows") for path in (ROOT / package).rglob("*.py")}
    assert not names & {"utils.py", "helpers.py", "common.py", "misc.py"}


FEWEST_LINES = 60  # of a file that one neighbour alone imports: with fewer it is a part of that neighbour
ALONE = {
    "flows/engine.py",  # a process of its own, where nobody forks it
    "flows/release.py",  # a wall: Prefect reads its settings when it is imported
    "flows/run_client.py",  # a program that is run by its path, without our packages
}


def lonely_files(lines: Mapping[str, int], imports: Mapping[str, Iterable[str]]) -> list[str]:
    """Short files that one file of the same folder alone imports; files by their paths."""
    importers = {path: [other for other in imports if path in imports[other] and other != path] for path in lines}
    return sorted(
        path
        for path, count in lines.items()
        if count < FEWEST_LINES and [Path(other).parent for other in importers[path]] == [Path(path).parent]
    )


@pytest.mark.chain
def test_no_short_file_is_a_part_of_its_one_neighbour() -> None:
    """Compiled loops stand apart: Numba compiles a file again whenever a line of it changes."""
    known = {name: path for name, path in modules().items() if path.name != "__init__.py"}
    where = {name: path.relative_to(ROOT).as_posix() for name, path in known.items()}
    lines = {
        where[name]: len(path.read_text(encoding="utf-8").splitlines())
        for name, path in known.items()
        if not name.endswith("_kernel")
    }
    imports = {where[name]: [where[other] for other in imports_within(path, known)] for name, path in known.items()}
    found = set(lonely_files(lines, imports))
    assert found - ALONE == set(), "fold each into the file that imports it"
    assert found >= ALONE, "what does not stand alone any more leaves the list"


def test_a_part_of_a_neighbour_would_be_found() -> None:
    imports = {"a/b.py": ["a/c.py", "a/d.py", "e/f.py"], "a/c.py": [], "a/d.py": ["a/c.py"], "e/f.py": []}
    assert lonely_files({"a/b.py": 20, "a/c.py": 20, "a/d.py": 20, "e/f.py": 20}, imports) == ["a/d.py"]
    assert lonely_files({"a/d.py": FEWEST_LINES}, imports) == []


# Names of files that mean different things in different folders: a list that may only shrink.
NAMED_TWICE: set[str] = set()


@pytest.mark.chain
def test_a_file_name_says_its_concept_once_in_the_house() -> None:
    names = [path.name for path in modules().values() if path.name not in ("__init__.py", "__main__.py")]
    twice = {name for name in names if names.count(name) > 1}
    assert twice - NAMED_TWICE == set(), "name each for what it alone is"
    assert twice >= NAMED_TWICE, "what is named once by now leaves the list"


def test_compiled_code_sorts_in_one_way() -> None:
    # Numba names what it compiles by a number that begins anew in every process. Its `sort` and its `argsort` by
    # quicksort have helpers of the same name and types: where both numbers agree by chance, code kept on disk by one
    # process calls the other's helper, and what should be sorted is not.
    compiled = [path for path in modules().values() if "numba.njit" in path.read_text(encoding="utf-8")]
    assert len(compiled) > 20
    calls = {
        (path.name, ast.unparse(call))
        for path in compiled
        for function in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(function, ast.FunctionDef) and "numba.njit" in "".join(map(ast.unparse, function.decorator_list))
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("argsort")
    }
    assert len(calls) >= 3
    assert {name for name, call in calls if "kind='mergesort'" not in call} == set()


def test_one_test_file_makes_each_role_and_database_of_a_fixed_name() -> None:
    # The server is shared by all workers: what two files make, drop or miss under one name fails by their order.
    makers: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"(?:CREATE|DROP) (?:ROLE|USER|DATABASE|TABLESPACE) (?:IF EXISTS )?(\w+)", text):
            makers.setdefault(name, set()).add(path.name)
        if re.search(r"ALTER SYSTEM \w|SET GLOBAL \w", text):  # of the server as a whole, for whoever runs beside it
            makers.setdefault("settings", set()).add(path.name)
    assert {"clerk", "lost", "small", "keeper"} <= set(makers)
    assert makers["settings"] == {"conftest.py"}
    assert {name: files for name, files in makers.items() if len(files) > 1} == {}
