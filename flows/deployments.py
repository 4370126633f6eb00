"""Deployments: what Prefect must know to run every release definition of a folder by itself.

A definition says when it runs (`schedule`) and after which event (`trigger`); from all of a folder comes one
`prefect.yaml`. No secret is in it: the source's URL and the workspace come from the worker's environment.
"""

from pathlib import Path
from typing import Any

import yaml

from sluice.ground.errors import DocumentError
from sluice.ground.visible_text import in_markdown, one_line
from tasks.release.products import load_definition
from tasks.release.release_definition import Definition
from tasks.release.run_notes import OURS

ENTRYPOINT = f"{__package__}.release.release_flow"  # a module's: the project need not hold the code
WORK_POOL = "sluice"
_HEADER = "# Made by `sluice deployments {folder} --output FILE`; change the definitions there, not this file.\n"


def prefect_yaml(folder: Path, project: Path) -> str:
    """The content of the prefect.yaml that deploys every definition (*.yaml) in `folder`, sorted by name.

    project : SLUICE_PROJECT of the worker, which finds definitions there by the names that they get here
    raises  : DocumentError when there is no definition, one is wrong or outside of the project, or two have one name
    """
    folder, project = folder.resolve(), project.resolve()
    if not folder.is_relative_to(project):
        raise DocumentError(f"{folder}: must lie in the project {project} (SLUICE_PROJECT); a worker finds no other")
    files: dict[str, Path] = {}
    deployments = []
    for path in sorted(folder.glob("*.yaml")):
        definition = load_definition(path)
        if definition.name in files:
            raise DocumentError(
                f"{path}: name: '{definition.name}' is the name of {files[definition.name]} too; "
                "the later deployment would replace the earlier one"
            )
        files[definition.name] = path
        deployments.append(_deployment(definition, path, project))
    if not deployments:
        raise DocumentError(f"{folder}: holds no release definition (*.yaml)")
    deployments.sort(key=lambda deployment: deployment["name"])
    content = {"name": "sluice", "deployments": deployments}
    header = _HEADER.format(folder=one_line(str(folder.relative_to(project))))
    return header + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)


def _deployment(definition: Definition, path: Path, project: Path) -> dict[str, Any]:
    deployment: dict[str, Any] = {
        "name": definition.name,
        "entrypoint": ENTRYPOINT,
        "parameters": {"definition": str(path.relative_to(project))},
        "description": _description(definition),
        "tags": [OURS, definition.name],
        "work_pool": {"name": WORK_POOL},
        "pull": [],  # a run needs no code but what is installed, and begins in no folder of whoever deploys it
        # One run of a definition at a time; a run that waits for approval counts as none. The others queue, they are
        # not cancelled: a table may be loaded again while a run reads it, and a run that goes on after its approval
        # needs a place like any other.
        "concurrency_limit": {"limit": 1, "collision_strategy": "ENQUEUE"},
    }
    if definition.schedule:
        deployment["schedules"] = [definition.schedule.model_dump()]
    if definition.trigger:
        deployment["triggers"] = [
            {
                "type": "event",
                "name": f"{definition.trigger.event} starts {definition.name}",
                "expect": [definition.trigger.event],
                "match": {"prefect.resource.id": definition.trigger.resource},
            }
        ]
    if "{{" in yaml.safe_dump(deployment, width=1_000_000):
        # Prefect would fill it in from the environment of whoever deploys, and store it.
        raise DocumentError(
            f"{path}: '{{{{' is not allowed in its path, name, title, schedule or trigger: Prefect expands it"
        )
    return deployment


def _description(definition: Definition) -> str:
    """What Prefect's pages say of it, in Markdown."""
    title, owner, shelf = map(in_markdown, (definition.title, definition.owner, definition.target.name))
    contract, policy = in_markdown(definition.contract.stem), in_markdown(definition.policy.stem)
    return (
        f"**{title}** ({definition.product}): submitted by {owner}, judged by the policy {policy} under the contract "
        f"{contract}, put on the shelf *{shelf}* once people approve"
    )
