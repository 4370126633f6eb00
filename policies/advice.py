"""Advice: what to do about a finding, for whoever masks the data, protects the tables or submits them.

That of a rule of a policy, of a part of the reference standard and of a measure of utility stands in its own file; that
of all other checks stands here.
"""

from collections.abc import Iterable, Mapping

from policies.rules.catalogue import rules
from policies.rules.rules import AttackPolicyRule, PolicyRule
from policies.standard.checks import PARTS
from policies.utility_limits import FAMILIES
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.analyses.analysis_findings import KINDS
from sluice.utility.utility_measures import measures

RULES = rules(PolicyRule) | rules(AttackPolicyRule)

_CONTRACT = {
    "contract": "Mend the data at the source, or the contract if it is out of date; masking cannot cure this.",
    "contract.kind": (
        "The column is not stored as declared: see how the source writes it, or correct its kind in the contract."
    ),
    "contract.all_missing": (
        "The column is empty: see whether the extract left it out, and take it out of the contract if it is gone for "
        "good."
    ),
    "contract.missing": (
        "Values are missing where the contract allows none: complete them at the source, or declare the variable "
        "nullable."
    ),
    "contract.missing_share": (
        "More values are missing than usual: see what failed in the collection, or raise max_missing_share with the "
        "owner's consent."
    ),
    "contract.minimum": (
        "Values lie below the declared minimum: look for codes of missing values and wrong units, or correct the "
        "minimum."
    ),
    "contract.maximum": (
        "Values lie above the declared maximum: look for codes such as 999 and wrong units, or correct the maximum."
    ),
    "sentinels": (
        "Ask the owner of the data what the value stands for: declare it in the contract's missing_codes, or as the "
        "minimum or maximum where it is meant."
    ),
    "contract.finite": (
        "The column holds infinite numbers, mostly from a division by zero: correct the computation at the source."
    ),
    "contract.categories": (
        "The column holds categories that are not declared: map their spellings at the source, or add new ones to the "
        "contract."
    ),
    "contract.category_order": (
        "The categories stand in another order than declared: write the order of the ordinal scale into the contract."
    ),
    "contract.record_key": (
        "Records share the record key: find out whether people stand twice in the extract, or complete the key by "
        "another column."
    ),
    "contract.rule": (
        "Records contradict a rule across fields: correct them at the source, or ask the owner whether the rule still "
        "holds."
    ),
    "contract.rows_minimum": (
        "The extract is too short: see whether the query was filtered or the load broke off, and read it again."
    ),
    "contract.rows_maximum": (
        "The extract is too long: look for a join that repeats records, or raise the maximum in the contract."
    ),
    "contract.column_in_dataframe": (
        "A declared column is missing: see whether it was renamed at the source, and correct the query or the contract."
    ),
    "contract.column_in_schema": (
        "There is a column that nobody declared: declare it with its role, or leave it out of the query."
    ),
    "contract.column_ordered": (
        "The columns stand in another order than declared: correct the order in the query or in the contract."
    ),
    "released_table": (
        "The masked file is not as the plan describes it: correct the step that makes this column, or what it "
        "declares of its values."
    ),
    "expectations": (
        "Great Expectations made no check at all: run the contract's checks by themselves and see what stopped them."
    ),
    "columns": (
        "Add the missing columns to the batch, or take them out of the contract with the consent of those who use them."
    ),
    "row_count": (
        "Compare the number of records with the source's own count: a load that broke off or a repeated one is read "
        "again."
    ),
    "type": (
        "Values cannot be read as their kind: correct the format at the source, such as a decimal comma or a date "
        "order."
    ),
    "missing_share": (
        "Ask who collects the data why so many values are missing in this batch before the limit is raised."
    ),
    "range": (
        "Look at the smallest and largest values at the source; codes of missing values belong into missing_codes of "
        "the contract."
    ),
    "categories": (
        "Compare the batch's code list with the contract's; a new edition of a classification needs a new version of "
        "the contract."
    ),
    "unique": "Remove the repeated keys at the source; a record that is loaded twice counts one person twice.",
    "freshness": "The newest record is too old: load the source again, or see why it was not updated.",
    "drift": (
        "A distribution moved since the last release: find out whether the population changed or the collection did; "
        "if it is real, raise max_distance for this edition."
    ),
    "data_docs": "Make the folder of the Data Docs writable; the checks themselves were made.",
}

_CHAIN = {
    "reference_standard": "Correct what the standard's settings say of weights and subgroups, and evaluate again.",
    "utility": "Compare original and released variables: the measures of utility found none that both files hold.",
    "overlooked_keys": (
        "Add these quasi-identifiers to the columns of a rule, or correct their role in the contract if nobody can be "
        "recognised by them."
    ),
    "few_changes": (
        "Two editions that differ in a few records give these away: wait until more records changed, publish the "
        "whole edition on another schedule, or withdraw the plan to publish both."
    ),
    "differencing": (
        "Who came, left or changed stands out from those who stayed: publish both files with fewer, larger classes, "
        "swap or randomise the values that the finding is about, or wait until whole classes have changed."
    ),
    "joint_classes": (
        "Groups of both files overlap in a few people: recode the quasi-identifiers with the same cut-points and "
        "labels as in the earlier publication, or more coarsely so that its groups lie whole within the new ones."
    ),
    "averaged_noise": (
        "Values were drawn anew for people whose value stayed: give the contract a record_key, so that unchanged "
        "records keep their noise under the same step, or leave the variable as it was published before."
    ),
    "pruned_publications": (
        "Let somebody who knows the earlier publication decide whether the two tell more together, and waive it by "
        "name; where further editions of the same people will come, keep the data until the last of them."
    ),
    "reassessment": (
        "Find out what keeps the release from being judged again; where its data are gone, decide whether it stays "
        "public."
    ),
    "several_publications": "Find out why an earlier publication could not be read, and compare again.",
    "earlier_editions": (
        "Compare with the earlier publication that the finding names: suppress the same cells in both, or let "
        "somebody who knows both decide."
    ),
    "other_measures": (
        "Compare with the table that the finding names: publish no numbers of contributors in one of the two, suppress "
        "the same cells in both, or let somebody who knows both decide."
    ),
    "records_and_tables": (
        "Whoever adds the records up has the cells that the table protects: recode, swap or leave out one of the "
        "table's dimensions in the file, or publish the table by coarser codes, of which the file may tell every cell."
    ),
    "contributor_numbers": (
        "Set form.tell_contributors to false: the numbers of contributors reveal which cells have too few, or nobody "
        "can tell whether they do."
    ),
    "table_audit": (
        "Attackers can work out sensitive cells: suppress further cells of the equations that the finding names, "
        "merge categories, or protect the tables again under the same assumptions as the audit."
    ),
    "table_files": (
        "The files are not what was judged: write them again from the protected tables, and do not edit them by hand."
    ),
    "a_priori": "A person asked for these cells to be withheld or published: check the a-priori file with its author.",
    "waiver": (
        "Take the waiver out of the policy, or renew it with an owner other than the submitter, a reason and an end."
    ),
    "identifiers_removed": (
        "Remove these identifiers from the file before it leaves the house; no masking makes a name safe."
    ),
    "unknown_columns": (
        "Declare these columns with their roles in the contract and assess the file again, or remove them."
    ),
    "holdout_of_others": "Take other people into the holdout than those of the file.",
    "pairs": "Hand the masked file in with its rows in the original order, or assess it without pairs.",
    "formula_cells": (
        "Recode the category that begins with = + - or @, or let the policy say `formula_cells: escape`, by which it "
        "has a quote in front in the CSV file; other files are not affected."
    ),
}

ADVICE: Mapping[str, str] = {
    **{rule: model.advice for rule, model in RULES.items()},
    **{part.rule: part.helps for part in PARTS if part.helps},
    **{measure.name: measure.advice for measure in measures(FAMILIES)},
    **{kind.name: kind.advice for kind in KINDS},
    **_CONTRACT,
    **_CHAIN,
}

UNMEASURED: Mapping[str, str] = {
    **{rule: model.needs for rule, model in RULES.items()},
    **{part.rule: part.needs for part in PARTS if part.needs},
    "reference_standard": (
        "Give the policy a reference_standard, or correct its settings: without one a file of records cannot be judged."
    ),
    "table_audit": (
        "Give the audit more time or smaller tables, so that every attack is decided: split "
        "linked tables, or suppress more cells."
    ),
    "earlier_editions": "Make the earlier edition's vault available again, so that both can be compared.",
    "other_measures": "Make the other table's vault available again, so that both can be compared.",
    "records_and_tables": "Make the other release's vault available again, so that both can be compared.",
    "several_publications": (
        "The vault must hold the data and the file of each earlier publication: bring back what is missing from its "
        "backup."
    ),
    "holdout_of_others": (
        "Draw the holdout from people who are not in the file: those of the file itself make "
        "every attack look harmless."
    ),
    "data_docs": "Make the folder of the Data Docs writable; the checks themselves were made.",
}

_CANNOT_BE_EXCUSED = "A waiver cannot excuse what was not measured."
_INCOMPLETE = (
    "Find out why the check could not be completed (too few records, a missing variable, a step that stopped) and "
    "evaluate again."
)


def advice_on(finding: Finding) -> str:
    """What to do about a finding that did not pass; empty for a rule that nobody wrote advice for."""
    head = finding.rule if finding.rule in ADVICE else finding.rule.partition(".")[0]
    if finding.verdict is Verdict.UNKNOWN:
        return f"{UNMEASURED.get(head, _INCOMPLETE)} {_CANNOT_BE_EXCUSED}"
    return ADVICE.get(head, "")


def with_advice(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, each that did not pass with what to do about it."""
    return [
        finding if finding.verdict is Verdict.PASS else finding.model_copy(update={"advice": advice_on(finding)})
        for finding in findings
    ]
