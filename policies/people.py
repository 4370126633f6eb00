"""The people of an office: who they are, in which roles, and by which accounts and keys they are known."""

import unicodedata
from datetime import date, datetime
from functools import cached_property, lru_cache
from typing import Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from sluice.custody.signing.allowed_signers import PUBLISHER, signer_name
from sluice.custody.signing.public_key import PublicKey
from sluice.ground.errors import SluiceError
from sluice.ground.visible_text import Name
from sluice.notices.mail import Address

Identity = Literal["declared", "account", "key"]
"""How it is known who acted, from weak to strong: a name that was typed, the account of the system, a signature."""

HEAD = "head"  # the role that answers for the roster


def at_least(identity: str | None, asked: Identity) -> bool:
    """Whether an act whose author was known by `identity` meets what is asked."""
    order = get_args(Identity)
    return identity in order and order.index(identity) >= order.index(asked)


def stronger(first: Identity, second: Identity) -> Identity:
    """The one that is harder to pretend."""
    return first if at_least(first, second) else second


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))


class Person(_Strict):
    roles: tuple[Name, ...] = Field(min_length=1)
    account: Name | None = Field(default=None, description="name of the system account")
    keys: tuple[str, ...] = Field(default=(), description="public keys, each a line of an OpenSSH .pub file")
    email: Address | None = Field(
        default=None,
        exclude_if=lambda email: email is None,  # a roster of before there were any keeps its SHA-256
        description="where notices go; one mailbox, without a name",
    )
    valid_from: date | None = Field(default=None, description="first day on which this person counts")
    valid_until: date | None = Field(default=None, description="last day on which this person counts")

    @field_validator("keys")
    @classmethod
    def _are_keys(cls, lines: tuple[str, ...]) -> tuple[str, ...]:
        """As kind and key: the comment after them counts for nothing."""
        try:
            return tuple(PublicKey.parse(line).line for line in lines)
        except SluiceError as error:
            raise ValueError(str(error)) from None

    @cached_property
    def public_keys(self) -> tuple[PublicKey, ...]:
        return tuple(map(PublicKey.parse, self.keys))

    def counts(self, at: datetime) -> bool:
        """Whether this person counts at a time, by the days of its own time zone."""
        day = at.date()
        return (self.valid_from or day) <= day <= (self.valid_until or day)


_PATTERN = frozenset(',*?!"#')  # what a file of allowed signers takes for several people, for all, or for a comment


class Roster(_Strict):
    """The people who count. No two spellings of a name or account, and no key, may mean two people."""

    identity: Identity = Field(
        default="key",
        description="the least by which people are known: key: they sign; account: the account of the system that ran "
        "the command; declared: a name that is typed is believed. A policy may ask for more",
    )
    people: dict[Name, Person] = Field(min_length=1)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        owner: dict[str, str] = {}
        holder: dict[bytes, str] = {}
        for name, person in self.people.items():
            if not name.strip().isprintable() or _PATTERN & set(name):
                raise ValueError(
                    f"a name must be printable and without any of {' '.join(sorted(_PATTERN))}; got {name!r}"
                )
            if PUBLISHER in (folded(name), folded(signer_name(name))):
                raise ValueError(
                    f"no person can be called '{PUBLISHER}': so the installation is, which signs by itself"
                )
            for spelling in (name, signer_name(name), *([person.account] if person.account else [])):
                if not folded(spelling):
                    raise ValueError(f"a name or account of '{name}' is blank")
                if owner.setdefault(folded(spelling), name) != name:
                    raise ValueError(f"'{spelling}' names both '{owner[folded(spelling)]}' and '{name}'")
            for key in person.public_keys:
                if holder.setdefault(key.point, name) != name:
                    both = f"'{holder[key.point]}' and '{name}'"
                    raise ValueError(f"one key is given to both {both}: each needs an own one")
        return self

    def by_account(self, account: str) -> str | None:
        """The name of whom this system account belongs to, letter for letter; None: nobody on the roster."""
        return next((name for name, person in self.people.items() if person.account == account), None)

    def by_key(self, key: PublicKey) -> str | None:
        """The name of whom this key belongs to; None: nobody on the roster."""
        return next((name for name, person in self.people.items() if key in person.public_keys), None)

    def person(self, spelling: str) -> str | None:
        """The name, as listed, of whom a name or an account means; None: nobody.

        In any letter case and spacing, and as a file of allowed signers has it: each is one person's, see `_distinct`.
        """
        wanted = folded(spelling)
        for name, person in self.people.items():
            if wanted in map(folded, (name, signer_name(name), person.account or name)):
                return name
        return None

    def with_role(self, role: str) -> list[str]:
        """The names of those who have a role."""
        return [name for name, person in self.people.items() if role in person.roles]


@lru_cache(maxsize=10_000)
def folded(name: str) -> str:
    """A name without letter case, blanks and invisible characters, so that another spelling is no other person."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(sign for sign in plain if not sign.isspace() and unicodedata.category(sign) not in ("Cf", "Cc"))
