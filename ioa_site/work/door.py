"""The door from the command line."""

from __future__ import annotations

from django.contrib.auth.models import User

from controllers.access import deactivation, lockout, provider_groups, roles, session_records
from ioa_site.commands import Stop
from ioa_site.server.terminal import shown
from ioa_site.work import caller
from ioa_site.work.channels import known
from ioa_site.work.names import ago

HEADS = ("DEVICE", "ADDRESS", "CAME BY", "LAST SEEN")


def done(verb: str, name: str, person: str | None, subject: str) -> str:
    """Do it; return what to say of it."""
    by, whom, now = known(person), named(name), caller.now()
    called = shown(whom.get_username(), 100)
    if verb == "unlock":
        freed = lockout.unlock(whom, by=by, now=now)
        return f"{called} can try again." if freed else f"{called} was not locked out."
    if verb == "sign-out":
        ended = session_records.end_all(whom, by=by, now=now)
        return f"{called} is signed out of {ended} sessions."
    if verb == "forget-factors":
        gone = deactivation.forget_factors(whom, by=by, now=now)
        return f"{called} signs in without a second factor." if gone else f"{called} had none."
    if verb == "connect":
        provider_groups.connect(whom, subject, by=by, now=now)
        return f"{called} can come by the identity provider."
    change = deactivation.shut_out if verb == "shut" else deactivation.let_in
    word = "shut out" if verb == "shut" else "let in"
    changed = change(whom, by=by, now=now)
    return f"{called} is {word}." if changed else f"{called} was {word} before."


def sessions(name: str, person: str | None) -> list[tuple[str, ...]]:
    """Return a table of where somebody is signed in."""
    by, whom, now = known(person), named(name), caller.now()
    if by.pk != whom.pk:
        roles.check_administers(by, now)
    return [
        (each.device, each.address, each.method, f"{ago(each.seen_at, now)} ago")
        for each in session_records.open_ones(whom, now)
    ]


def named(name: str) -> User:
    """Return the person it is about, also one who is shut out."""
    found = User.objects.filter(username=name.replace("\x00", "")).first()
    if found is None:
        raise Stop(f"There is nobody called {shown(name, 100)}.", code=1)
    return found
