"""A masked file is measured beside its own original, record by record; without a measure nothing passes."""

import gc
import weakref
from collections.abc import Callable, Sequence
from threading import current_thread

import pytest

from policies.standard import standard_checks
from sluice.ground.parallel_jobs import in_threads
from sluice.ground.verdict import Verdict
from tasks.record_steps import check, evaluate, mask
from tasks.release.product import AnyRelease
from tasks.release.records import record_findings, release_comparison
from tests.flows.house import House, survey

Bring = Callable[[House], AnyRelease]


def test_the_reference_standard_and_the_losses_of_each_variable_are_measured(house: House, validated: Bring) -> None:
    release = validated(house)
    found = evaluate(release, mask(release))
    assert {finding.verdict for finding in found.findings if finding.binding} == {Verdict.PASS}
    assert {"reidentification", "lone_copies"} <= {finding.rule for finding in found.findings}
    assert {summary.name for summary in found.variables} >= {"age", "sex", "region", "income"}
    assert found.curves


def test_measurements_beside_each_other_find_what_they_find_one_by_one(
    house: House, validated: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.policy["attacks"] = [
        {"rule": "distance_linkage", "limit": 0.5},
        {"rule": "attribute_inference", "limit": 0.99},
    ]
    house.data = survey(300)
    release = validated(house)
    masked, found, threads = mask(release), [], []

    def watched(jobs: Sequence[Callable[[], object]], at_once: int) -> list[object]:
        threads.append(at_once)
        return in_threads(jobs, at_once)

    monkeypatch.setattr(record_findings, "in_threads", watched)
    for number in (1, 4):
        monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", number)
        found.append(evaluate(release, masked))
    assert threads == [1, 4]
    assert [repr(finding) for finding in found[0].findings] == [repr(finding) for finding in found[1].findings]
    assert repr(found[0]) == repr(found[1])
    rules = [finding.rule for finding in found[0].findings if finding.stage in ("reference", "attack")]
    assert rules.index("reidentification") < rules.index("attribute_inference")


def test_what_fills_memory_is_measured_by_itself(
    house: House, validated: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others run in threads of a pool, of which two would hold what the intruder who learns holds, and their own."""
    seen: dict[str, set[str]] = {"learned_intruder": set(), "judge_unique_values": set()}

    def noted(name: str) -> Callable[..., object]:
        measure = getattr(standard_checks, name)

        def of(*given: object) -> object:
            seen[name].add(current_thread().name.partition("-")[0])
            return measure(*given)

        return of

    for name in seen:
        monkeypatch.setattr(standard_checks, name, noted(name))
    monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", 4)
    house.data = survey(300)
    release = validated(house)
    evaluate(release, mask(release))
    assert seen == {"learned_intruder": {"MainThread"}, "judge_unique_values": {"ThreadPoolExecutor"}}


def test_the_pairs_are_those_of_the_original_records(
    house: House, validated: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def look(policy: object, files: record_findings.Comparison, *_: object) -> record_findings.Evaluation:
        seen.append(files)
        return record_findings.Evaluation((), (), ())

    monkeypatch.setattr("tasks.record_steps.evaluate_file", look)
    release = validated(house)
    evaluate(release, mask(release))
    (files,) = seen
    for name in ("sex", "region"):  # which the plan leaves as they are
        assert (files.original[name].astype(str) == files.masked[name].astype(str)).all()
    assert (files.recoded["age"].astype(str) == files.masked["age"].astype(str)).all()


def test_the_frames_are_read_once_and_let_go_by_the_last_who_needs_them(
    house: House, validated: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.data = survey(300)
    release, read = validated(house), []

    def once(*given: object) -> record_findings.Comparison:
        files: record_findings.Comparison = compared(*given)
        read.append(weakref.ref(files.masked))
        return files

    compared = release_comparison.compared
    monkeypatch.setattr(release_comparison, "compared", once)
    masked = mask(release)
    check(release, masked)
    (frame,) = read
    assert frame() is not None
    evaluate(release, masked)
    gc.collect()
    assert [each() for each in read] == [None]


def test_without_a_reference_standard_nobody_knows_whether_the_file_is_safe(house: House, validated: Bring) -> None:
    del house.policy["reference_standard"]
    release = validated(house)
    found = evaluate(release, mask(release))
    (unknown,) = (finding for finding in found.findings if finding.rule == "reference_standard")
    assert (unknown.verdict, unknown.binding) == (Verdict.UNKNOWN, True)
