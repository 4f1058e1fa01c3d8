"""Secrets never leave: planted ones are looked for wherever anything is written or shown."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone

from controllers.access import people, secret_rotation
from controllers.common import secrets
from controllers.models import Channel, Endpoint
from controllers.notifications import delivery
from controllers.operations import endpoints
from ioa_site.cli import main
from ioa_site.server.logs import Json, Text
from resources.usecases import tokens
from tests.conftest import Clock
from tests.door.conftest import PASSWORD
from tests.hardening.test_looking import filled, known, routes  # noqa: F401 - a fixture
from tests.web.conftest import clock as clock
from tests.web.conftest import organisation as organisation

pytestmark = [pytest.mark.filterwarnings("ignore:'imghdr' is deprecated"), pytest.mark.full]

ADDRESS = "jsons://planted-user:planted-channel-password@hooks.example.com/planted-path"
# What of the address is secret; the host may be shown.
PARTS = ("planted-channel-password", "planted-path")
LEFT_OUT = {"watch", "openid_connect_callback", "mfa_view_recovery_codes", "mfa_activate_totp"}


class Kept(logging.Handler):
    """Writes every record as both formats do."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = Text("%(asctime)s %(levelname)s %(name)s %(message)s").format(record)
        self.lines += [text, Json().format(record)]


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """Hear everything that is logged, however unimportant; questions to the database aside."""
    root, handler = logging.getLogger(), Kept()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    logging.getLogger("django.db.backends").setLevel(logging.INFO)
    yield handler.lines
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture
def planted(organisation: Clock) -> dict[str, str]:
    """Plant a secret of every sort; return them by name."""
    admin, now = User.objects.get(username="admin"), timezone.now()
    admin.set_password(PASSWORD)
    admin.save()
    delivery.map_channel("planted", ADDRESS, person=admin, now=now)
    given = ("planted", "https://hooks.example.com/ioa", ["restart"], "")
    _, webhook = endpoints.register(*given, person=admin, now=now)
    issued = tokens.issue(
        "growth-optimizer",
        scopes=["resources:read"],
        lifetime=timedelta(days=1),
        actor=people.actor_for(admin),
        now=now,
    )
    app = generate_totp_secret()
    TOTP.activate(User.objects.get(username="maya"), app)
    codes = RecoveryCodes.activate(User.objects.get(username="maya"))
    vera = User.objects.get(username="vera")
    link = people.sign_in_link(vera, "http://testserver").rstrip("/").rsplit("/", 1)[1]
    return {
        "webhook": webhook,
        "agent token": issued.text,
        "password": PASSWORD,
        "app": app,
        "recovery code": codes.get_unused_codes()[0],
        "link": link,
        **dict(zip(("channel password", "channel path"), PARTS, strict=True)),
    }


def shown(known: dict[str, str], planted: dict[str, str]) -> Iterator[tuple[str, str]]:  # noqa: F811
    """Look at every page, list, export and error; yield where and what."""
    client = Client(raise_request_exception=False)
    client.post("/sign-in/", {"login": "admin", "password": planted["password"]})
    User.objects.filter(username="admin").update(is_superuser=True)
    agent = Client(raise_request_exception=False)
    bearer = {"Authorization": f"Bearer {planted['agent token']}"}
    for name, route in sorted(set(routes(get_resolver().url_patterns))):
        if name in LEFT_OUT:
            continue
        address = filled(route, known)
        for visitor, headers in ((client, {}), (agent, bearer)):
            answer = visitor.get(address, headers=headers)
            if answer.streaming and not answer.is_async:  # type: ignore[attr-defined]
                whole = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
                yield address, whole.decode("utf-8", "replace")
            elif not answer.streaming:
                yield address, answer.content.decode("utf-8", "replace")


def wrong_ways(planted: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Use each secret where it does not belong; yield what is said to that."""
    client = Client(raise_request_exception=False)
    for name in ("password", "agent token", "link", "webhook"):
        secret = planted[name]
        asked = [
            client.post("/sign-in/", {"login": "vera", "password": secret}),
            client.get("/api/v1/proposals", headers={"Authorization": f"Bearer {secret}x"}),
            client.post(f"/sign-in/999/{secret}/"),
            client.post("/api/v1/apply", f"a: {secret}\n: [", content_type="application/yaml"),
        ]
        for answer in asked:
            yield f"wrong {name}", answer.content.decode()


def dump() -> str:
    """Write the whole database down, every table of it."""
    out = io.StringIO()
    call_command("dumpdata", "--all", stdout=out)
    rows = [out.getvalue()]
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608 - every table there is
            rows += [repr(row) for row in cursor.fetchall()]
    return "\n".join(rows)


def test_planted_secrets_are_nowhere_to_be_seen(
    known: dict[str, str],  # noqa: F811
    planted: dict[str, str],
    logged: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    seen = {"pages": list(shown(known, planted)), "errors": list(wrong_ways(planted))}
    logging.getLogger("ioa.x").error("It broke with %s", json.dumps({"token": planted["link"]}))
    for command in (["channel", "list"], ["endpoint", "list"], ["audit", "export"], ["status"]):
        main(command)
    said = capsys.readouterr()
    texts = [
        *((where, text) for found in seen.values() for where, text in found),
        ("log", "\n".join(logged)),
        ("command line", said.out + said.err),
        ("database", dump()),
    ]

    assert len(seen["pages"]) > 100
    assert len(logged) > 2
    found = {
        (name, where)
        for name, secret in planted.items()
        for where, text in texts
        if secret in text
    }
    assert found == set()


def test_the_search_finds_what_is_there(planted: dict[str, str]) -> None:
    Channel.objects.filter(name="planted").update(hint=PARTS[0])

    assert PARTS[0] in dump()


def test_stored_secrets_are_written_anew_with_another_key(
    planted: dict[str, str], settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = settings.SECRETS_KEYS[0], "n" * 40
    settings.SECRETS_KEYS = [new, old]

    assert main(["secrets", "rotate", "--as", "admin"]) == 0

    assert "4 secrets are written with the present key." in capsys.readouterr().out
    settings.SECRETS_KEYS = [new]
    assert secrets.decrypt(Channel.objects.get(name="planted").address) == ADDRESS
    assert planted["webhook"] in secrets.decrypt(Endpoint.objects.get(name="planted").secret)
    kept = Authenticator.objects.get(type="totp").data["secret"]
    assert secrets.decrypt(kept) == planted["app"]
    codes = Authenticator.objects.get(type="recovery_codes").wrap()
    assert planted["recovery code"] in codes.get_unused_codes()


def test_one_that_no_key_reads_stops_all_of_it(planted: dict[str, str], settings: Any) -> None:
    Endpoint.objects.filter(name="planted").update(secret="unreadable")
    before = Channel.objects.get(name="planted").address

    with pytest.raises(secrets.Unreadable):
        secret_rotation.rotate(by=User.objects.get(username="admin"), now=timezone.now())

    assert Channel.objects.get(name="planted").address == before
