"""What follows on the decisions of people: runs that wait go on, or the flow runs here.

Prefect is imported only where a flow runs or is resumed: commands that only look for a release need not wait for it.
"""

import os

from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from tasks.release.decisions.notices import tell
from tasks.release.decisions.series import standing
from tasks.release.outcome import Outcome
from tasks.release.product import AnyProduct, AnyRelease
from tasks.release.run_notes import runs_waiting


def run_flow(product: AnyProduct, release_id: str | None = None, rehearse: bool = False) -> Outcome:
    """Run the flow in this process; without a server, as the plain function it is.

    Prefect would start a server for it, which takes longer than most releases, and nobody looks at what it keeps.
    """
    from prefect.settings import get_current_settings

    from flows.release import release_flow, release_quietly

    run = release_flow if get_current_settings().api.url else release_quietly
    return run(definition=str(product.path), release_id=release_id, rehearse=rehearse)


def resume_waiting(workspace: Workspace, release_id: str) -> bool:
    """Let the runs that wait for a decided release go on; whether there was one that could."""
    if not runs_waiting(workspace, release_id):
        return False
    from tasks.suspension import resume_runs

    return bool(resume_runs(workspace, release_id))


def announce(workspace: Workspace, release_id: str) -> None:
    """Tell people what was just decided, and bring the tags of its runs on Prefect's server up to it."""
    tell(workspace)
    if "PREFECT_API_URL" in os.environ:  # else Prefect would be loaded for nothing
        from tasks.run_tags import tag_runs

        tag_runs(workspace, [release_id])


def go_on(release: AnyRelease) -> Outcome | None:
    """Let a decided release go on: resume the runs that wait for it, or else run it here. None: resumed elsewhere."""
    if resume_waiting(release.product.workspace, release.id):
        return None
    if release.state is State.PUBLISHING or standing(release).complete:
        return run_flow(release.product, release_id=release.id)
    return Outcome.of(release)
