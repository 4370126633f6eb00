"""The command that serves the reviewers' pages, and the one that gives somebody an account there."""

from typing import Annotated

import typer

from flows.cli.terminal import AsJson, note, print_json, say

desk_app = typer.Typer(help="Pages for reviewers.", invoke_without_command=True)


@desk_app.callback()
def desk(
    context: typer.Context,
    host: Annotated[str, typer.Option("--host", help="the address of this machine to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535)] = 8321,
    address: Annotated[
        str | None,
        typer.Option("--address", metavar="URL", help="at which people reach it, such as https://desk.office.example"),
    ] = None,
    header: Annotated[
        str | None,
        typer.Option("--sign-on-header", metavar="NAME", help="in which the office's sign-on says who it is"),
    ] = None,
    proxies: Annotated[
        list[str] | None,
        typer.Option("--proxy", metavar="IP", help="from which the sign-on connects; may be repeated"),
    ] = None,
) -> None:
    """Serve the pages on which people read what waits for them and decide. Ends with Ctrl-C.

    People sign on by the office's own sign-on (--sign-on-header, --proxy), or with accounts of the desk.
    """
    if context.invoked_subcommand is not None:
        return
    from flows.desk.application import application
    from flows.desk.desk import Desk, Proxy
    from flows.desk.security_middleware import serve
    from sluice.custody.workspace import open_workspace
    from sluice.ground.errors import SluiceError
    from sluice.ground.log import is_written, write_log
    from sluice.settings import settings
    from tasks.release.decisions.under_review import office_of

    workspace = open_workspace()
    office_of(workspace)  # without people nobody could sign on
    at = address or f"http://{f'[{host}]' if ':' in host else host}:{port}"
    if host not in ("127.0.0.1", "::1", "localhost") and not at.startswith("https:"):
        raise SluiceError(
            f"--host {host} is reached from other machines: passwords and files would cross the network in clear. Put "
            "a web server with a certificate before it, and name that by --address https://..."
        )
    if proxies and header is None:
        raise SluiceError("--proxy goes with --sign-on-header, which says in which header the proxy names people")
    proxy = Proxy.of(settings().home, header, proxies or []) if header else None
    app = application(Desk.of(settings().home, at, proxy))

    def ready() -> None:
        note(f"the desk is at {at}")
        if not is_written():
            write_log("text")  # a page that fails sends its reader there

    serve(app, host, port, ready)


@desk_app.command()
def account(
    name: Annotated[str, typer.Argument(metavar="NAME", help="of somebody on the roster")],
    remove: Annotated[bool, typer.Option("--remove", help="take the account away, and end its sessions")] = False,
    as_json: AsJson = False,
) -> None:
    """Give somebody an account at the desk, or another password, which is asked for; or take it away."""
    from flows.desk.accounts import Accounts, desk_folder
    from sluice.custody.workspace import open_workspace
    from sluice.ground.errors import SluiceError
    from tasks.release.decisions.under_review import office_of

    workspace = open_workspace()
    accounts = Accounts(desk_folder(workspace.home))
    if remove:
        accounts.remove(name)
    else:
        roster = office_of(workspace).roster
        if name not in roster.people:
            raise SluiceError(f"'{name}' is not on the roster. On it: {', '.join(roster.people)}")
        accounts.put(name, typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
    if as_json:
        print_json({"name": name, "account": not remove})
    else:
        say(f"'{name}' has {'no account any more' if remove else 'an account'} at the desk")
