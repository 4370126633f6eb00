"""What people do at the desk: decide on a release, and ask that a published one be withdrawn.

Both go the way of the commands. Where people are known by a signature, a first form leads to what is to be signed, on
their own machine, and a second one brings the signature; between the two the desk keeps nothing, and no private key
comes to it. What is signed names the decision, the words and the SHA-256 of all that was read. Where a typed name is
believed, the sign-on says whose name it is.
"""

import base64
import binascii
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, cast, get_args

from fastapi import APIRouter, BackgroundTasks, Depends, File, Form, HTTPException, Request, Response, UploadFile
from fastapi.responses import RedirectResponse

from flows.desk.pages import page
from flows.desk.permissions import Rights, readable
from flows.desk.release_page import facts
from flows.desk.sign_on import OwnForm, Reader, SignedOn, TheDesk
from flows.follow_up import announce, go_on, resume_waiting
from policies.acceptances import FindingDecision
from policies.decision_table import DECISIONS
from policies.people import Identity
from policies.standing import Decision, Standing
from sluice.custody.signing.envelope import Envelope, Statement, parse_statement, pre_authentication
from sluice.custody.signing.ssh_signature import NAMESPACE
from sluice.ground.errors import SluiceError
from sluice.ground.log import log
from tasks.failure import explain
from tasks.release.decisions import decisions_of_people
from tasks.release.decisions.decisions_of_people import Withdrawable
from tasks.release.decisions.open_findings import decide_finding
from tasks.release.decisions.signing_in import Credentials
from tasks.release.decisions.signing_in import Request as SigningRequest

LONGEST_STATEMENT = 64 * 1024  # bytes


@dataclass(frozen=True)
class ToSign:
    """A statement, as a page holds it between two requests."""

    payload: bytes

    @classmethod
    def held(cls, text: str) -> "ToSign":
        """The one that a form held. Raises SluiceError for what is none; what it says is held against what is
        recorded when that is done (`tasks.release.decisions.signing_in`)."""
        try:
            payload = base64.b64decode(text.encode("ascii"), validate=True)
        except (binascii.Error, UnicodeEncodeError):
            payload = b""
        if not 0 < len(payload) <= LONGEST_STATEMENT:
            raise SluiceError("the form does not hold what was to be signed; begin again from the page of the release")
        return cls(payload)

    @property
    def statement(self) -> Statement:
        """What it says. Raises SluiceError where it is none."""
        return parse_statement(self.payload)

    @property
    def text(self) -> str:
        return base64.b64encode(self.payload).decode("ascii")

    @property
    def file(self) -> bytes:
        """The bytes under the signature: type and content of the statement, as DSSE has them."""
        return pre_authentication(self.payload)

    def envelope(self, signature: str) -> str:
        """The statement with its signature, as JSON.

        signature : as `ssh-keygen -Y sign` writes it, or the envelope that `sluice sign` prints
        raises    : SluiceError where it is neither, or no signature of this statement
        """
        given = signature.strip()
        if given.startswith("{"):
            return given
        if "-----BEGIN SSH SIGNATURE-----" not in given:
            raise SluiceError(
                "this is not a signature: a signature begins with -----BEGIN SSH SIGNATURE----- and is what the "
                "command wrote into the file whose name ends in .sig. A private key must never be pasted here"
            )
        try:
            return Envelope.sign(self.payload, lambda _: f"{given}\n").model_dump_json(by_alias=True)
        except SluiceError:
            raise SluiceError(
                "this is not a signature of what the page shows. Download the file anew, sign that, and leave "
                "nothing out"
            ) from None


def file_name(act: str, release: str) -> str:
    """What the file is called: a name that a shell takes as it is."""
    return re.sub(r"[^a-z0-9.-]+", "-", f"{act}-{release}.txt".lower()).strip("-")


def command(file: str) -> str:
    return f"ssh-keygen -Y sign -n {NAMESPACE} -f ~/.ssh/id_sluice {file}"


deciding = APIRouter(dependencies=[OwnForm])

Text = Annotated[str, Form()]
_LONGEST_SIGNATURE = 128 * 1024  # bytes


@dataclass(frozen=True)
class FormDecision:
    """What a form asks for, the same in the first and in the second one."""

    what: str  # a decision, or 'withdraw'
    comment: str
    series: bool
    seen: str  # the digest of what the page showed
    finding: str = ""  # the SHA-256 of the one that is decided on
    until: str = ""  # ISO 8601, last day of an acceptance; empty: the latest that the policy allows

    @classmethod
    def of_form(
        cls, what: Text = "", comment: Text = "", series: Text = "", seen: Text = "", finding: Text = "",
        until: Text = "",
    ) -> "FormDecision":  # fmt: skip
        """Browsers send the ends of lines in two characters, of which the first is none that can be seen."""
        return cls(what, comment.replace("\r\n", "\n").strip(), series == "yes", seen, finding, until)

    @property
    def is_on_finding(self) -> bool:
        return self.what in get_args(FindingDecision)


TheDecision = Annotated[FormDecision, Depends(FormDecision.of_form)]


@deciding.post("/releases/{release}/act")
def begin(
    request: Request, desk: TheDesk, reader: SignedOn, release: str, act: TheDecision, after: BackgroundTasks
) -> Response:
    """Record an act where the sign-on says who it is of, or else show what is to be signed."""
    found, entries = readable(reader, release)
    _refuse_unless_possible(found, act)
    try:
        if _identity(reader, found, release, act) == "declared":
            return _recorded(request, desk, reader, release, act, Credentials(declared=reader.name), after)
        asked = _carry_out(reader, release, act, Credentials(to_sign=True), after)
    except SluiceError as error:
        shown = facts(reader, found, entries)
        return page(
            request, desk, "release.html.j2", reader, 409, problem=str(error), comment=act.comment, finding=act.finding,
            done="", **shown,
        )  # fmt: skip
    assert isinstance(asked, SigningRequest)
    return _signing_page(request, desk, reader, release, act, ToSign(asked.payload))


@deciding.post("/releases/{release}/statement")
def statement(reader: SignedOn, release: str, act: TheDecision, payload: Text = "") -> Response:
    """What is to be signed, as a file."""
    readable(reader, release)
    held = ToSign.held(payload)
    held.statement  # noqa: B018 - nothing else is handed out
    named = {"content-disposition": f'attachment; filename="{file_name(act.what, release)}"'}
    return Response(held.file, media_type="application/octet-stream", headers=named)


@deciding.post("/releases/{release}/signed")
def signed(
    request: Request,
    desk: TheDesk,
    reader: SignedOn,
    release: str,
    act: TheDecision,
    after: BackgroundTasks,
    payload: Text = "",
    signature: Text = "",
    file: Annotated[UploadFile | None, File()] = None,
) -> Response:
    """Record an act by its signature."""
    found, _ = readable(reader, release)
    _refuse_unless_possible(found, act)
    held = ToSign.held(payload)
    try:
        given = signature if signature.strip() else _uploaded(file)
        return _recorded(request, desk, reader, release, act, Credentials(envelope=held.envelope(given)), after)
    except SluiceError as error:
        return _signing_page(request, desk, reader, release, act, held, str(error))


def _identity(reader: Reader, found: Rights, release: str, act: FormDecision) -> Identity:
    if act.what == "withdraw":
        return Withdrawable.of(reader.workspace, release).identity
    assert found.case is not None
    return found.case.identity


def _refuse_unless_possible(found: Rights, act: FormDecision) -> None:
    may = found.findings if act.is_on_finding else act.what in found.decisions
    if not (found.withdraw if act.what == "withdraw" else may):
        raise HTTPException(403, "That is not possible now, or not for you. Open the page of the release again.")


def _recorded(
    request: Request,
    desk: TheDesk,
    reader: Reader,
    release: str,
    act: FormDecision,
    credentials: Credentials,
    after: BackgroundTasks,
) -> Response:
    _carry_out(reader, release, act, credentials, after)
    did = "asked for a withdrawal" if act.what == "withdraw" else "decided"
    desk.access.record(reader.name, did, "release", release)
    return RedirectResponse(f"/releases/{release}?done={'withdraw' if act.what == 'withdraw' else 'decide'}", 303)


def _carry_out(
    reader: Reader, release: str, act: FormDecision, credentials: Credentials, after: BackgroundTasks
) -> Standing | SigningRequest | None:
    """As the commands do it; what follows, such as the publication, goes on when the page has been answered."""
    workspace = reader.workspace
    by = Credentials(credentials.declared, None, credentials.envelope, credentials.to_sign, signed_on=reader.name)
    if act.what == "withdraw":
        asked = decisions_of_people.withdraw(release, by, act.comment)
        if isinstance(asked, SigningRequest):
            return asked
        after.add_task(_quietly, release, lambda: announce(workspace, release))
        return None
    if act.is_on_finding:
        which = cast(FindingDecision, act.what)
        told = decide_finding(workspace, release, which, act.finding, by, act.comment, _day(act.until), act.seen)
        if isinstance(told, SigningRequest):
            return told
        if which == "refuse_finding":
            after.add_task(_quietly, release, lambda: resume_waiting(workspace, release))
        after.add_task(_quietly, release, lambda: announce(workspace, release))
        return None
    decision, seen = cast(Decision, act.what), act.seen
    if decision == "approve":
        approved = decisions_of_people.find(release)
        standing = decisions_of_people.approve(approved, by, act.comment, act.series, seen)
        follows: Callable[[], Any] = lambda: go_on(approved)  # noqa: E731
    else:
        standing = decisions_of_people.decide(workspace, release, decision, by, act.comment, seen=seen)
        follows = lambda: resume_waiting(workspace, release)  # noqa: E731
    if isinstance(standing, SigningRequest):
        return standing
    if standing.outcome != "open":
        after.add_task(_quietly, release, follows)
    after.add_task(_quietly, release, lambda: announce(workspace, release))
    return standing


def _day(text: str) -> date | None:
    """A day of a form; None where it was left empty. Raises SluiceError for what is none."""
    try:
        return date.fromisoformat(text) if text.strip() else None
    except ValueError:
        raise SluiceError(f"until must be a day, such as 2026-05-31; got {text!r}", field="until") from None


def _quietly(release: str, follows: Callable[[], Any]) -> None:
    """What went wrong after a decision stands in the log, and on the board: the decision itself is recorded."""
    try:
        follows()
    except Exception as error:
        log("what follows on a decision fails", logging.ERROR, release=release, detail=explain(error))


def _signing_page(
    request: Request, desk: TheDesk, reader: Reader, release: str, act: FormDecision, to_sign: ToSign, problem: str = ""
) -> Response:
    file, said = file_name(act.what, release), to_sign.statement
    return page(
        request, desk, "sign.html.j2", reader, 409 if problem else 200, release=release, act=act, problem=problem,
        payload=to_sign.text, file=file, command=command(file), says=said.predicate, files=said.files,
        title=DECISIONS[act.what].label,
    )  # fmt: skip


def _uploaded(file: UploadFile | None) -> str:
    content = file.file.read(_LONGEST_SIGNATURE) if file else b""
    try:
        return content.decode("ascii")
    except UnicodeDecodeError:
        raise SluiceError("the file is not a signature: it must be the one whose name ends in .sig") from None
