"""What follows on the decisions of people: runs that wait go on, or the flow runs here.

Prefect is imported only where a flow runs or is resumed, and what judges data where a flow runs: commands that only
look for a release, and people who decide on one, need not wait for them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from sluice.ground.machine import without_collecting
from tasks.flow_run import has_server, resume_runs, tag_runs
from tasks.release.decisions.notices import tell
from tasks.release.decisions.series_approval import standing

if TYPE_CHECKING:
    from tasks.release.outcome import Outcome
    from tasks.release.product import AnyProduct, AnyRelease


def run_flow(product: "AnyProduct", release_id: str | None = None, rehearse: bool = False) -> "Outcome":
    """Run the flow in this process; without a server, as the plain function it is.

    Prefect would start a server for it, which takes longer than most releases, and nobody looks at what it keeps.
    """
    run: Callable[..., Outcome]
    if has_server():
        from flows.release import release_flow

        run = release_flow
    else:
        with without_collecting():
            from flows.chain import release_quietly

        run = release_quietly
    return run(definition=str(product.path), release_id=release_id, rehearse=rehearse)


def resume_waiting(workspace: Workspace, release_id: str) -> bool:
    """Let the runs that wait for a decided release go on; whether there was one that could."""
    return bool(resume_runs(workspace, release_id))


def announce(workspace: Workspace, release_id: str) -> None:
    """Tell people what was just decided, and bring the tags of its runs on Prefect's server up to it."""
    tell(workspace)
    tag_runs(workspace, [release_id])


def go_on(release: "AnyRelease") -> "Outcome | None":
    """Let a decided release go on: resume the runs that wait for it, or else run it here. None: resumed elsewhere."""
    if resume_waiting(release.product.workspace, release.id):
        return None
    if release.state is State.PUBLISHING or standing(release).complete:
        return run_flow(release.product, release_id=release.id)
    from tasks.release.outcome import Outcome

    return Outcome.of(release)
