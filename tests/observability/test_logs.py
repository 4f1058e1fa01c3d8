"""Lines of the log: what they say, and what they never say."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.test import Client, RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from controllers.operations.endpoints import new_secret
from ioa_site.middleware import request_context
from ioa_site.server.logs import Json, Text
from ioa_site.server.redaction import redact
from ioa_site.settings import environment
from resources.observability import correlation
from resources.tables import ledger
from resources.tables.models import LedgerEvent
from resources.usecases import tokens
from tests.conftest import given as give
from tests.journeys.product import Product
from tests.rows import every_row

pytestmark = pytest.mark.sqlite

LINE = "%(asctime)s %(levelname)s %(name)s %(message)s"
logger = logging.getLogger("ioa.tests")

word = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=12)
printable = st.characters(codec="ascii", exclude_characters="/?#", categories=("L", "N", "P", "S"))
password = st.text(printable, min_size=12, max_size=40)


def record(message: str, *args: Any, error: BaseException | None = None, **extra: Any) -> Any:
    """Make a record as a logger does."""
    told = (type(error), error, error.__traceback__) if error else None
    return logger.makeRecord(
        "ioa.tests", logging.INFO, "file.py", 1, message, args, told, extra=extra
    )


def line(record: Any) -> dict[str, Any]:
    """Write a record as JSON, and read it."""
    text = Json().format(record)
    assert "\n" not in text
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.fixture
def lines() -> Iterator[list[dict[str, Any]]]:
    """Return the lines that this process writes as JSON."""
    found: list[dict[str, Any]] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(json.loads(Json().format(record)))

    handler = Kept()
    logging.getLogger().addHandler(handler)
    yield found
    logging.getLogger().removeHandler(handler)


def test_a_line_says_when_how_grave_where_and_what() -> None:
    found = line(record("Hello %s", "there", controller="keeper", counts={"seen": 3}))

    assert found["time"].endswith("Z")
    assert datetime.fromisoformat(found["time"]).utcoffset() is not None
    assert (found["level"], found["logger"], found["message"]) == (
        "info",
        "ioa.tests",
        "Hello there",
    )
    assert (found["controller"], found["counts"]) == ("keeper", {"seen": 3})
    assert "correlationId" not in found
    assert "method" not in found


def test_a_line_names_the_story_it_belongs_to() -> None:
    token = ledger.correlation.set("story-7")
    try:
        assert line(record("Hello"))["correlationId"] == "story-7"
    finally:
        ledger.correlation.reset(token)


def test_what_went_wrong_is_a_text_of_the_same_line() -> None:
    try:
        raise ValueError("It\nbroke.")
    except ValueError as error:
        found = line(record("Oh", error=error))

    assert found["exception"].startswith("Traceback")
    assert found["exception"].endswith("ValueError: It\nbroke.")


@pytest.mark.parametrize(
    "odd", [float("nan"), object(), {"a": {"b": {"c": {"d": {"e": {}}}}}}, "\ud800", b"\xff", {1}]
)
def test_no_value_is_too_odd_to_be_logged(odd: Any) -> None:
    assert "value" in line(record("%s", odd, value=odd))


def test_lines_of_a_request_say_which_and_how_it_was_answered(
    lines: list[dict[str, Any]],
) -> None:
    def view(request: Any) -> HttpResponse:
        logger.warning("inside")
        return HttpResponse(status=418)

    request = RequestFactory().get(
        "/sign-in/7/abc-def/?token=x", headers={"X-Correlation-ID": "s"}
    )
    with request_context.observed(request) as asked:
        asked.status = view(request).status_code
        logger.warning("after")
    logger.warning("outside")

    inside, after, outside = lines
    assert (inside["method"], inside["path"]) == ("GET", "/sign-in/7/[hidden]/")
    assert (inside["correlationId"], "status" in inside) == ("s", False)
    assert after["status"] == 418
    assert not {"method", "path", "status", "correlationId"} & set(outside)


@pytest.mark.django_db
def test_answer_ledger_and_log_carry_the_id_that_the_caller_gave(
    admin_user: User, admin_client: Client, lines: list[dict[str, Any]]
) -> None:
    give(admin_user, "operator")
    document = {"apiVersion": "ioa.dev/v0.2", "kind": "Domain", "metadata": {"name": "mine"}}
    answer = admin_client.post(
        "/api/v1/apply",
        {**document, "spec": {"purpose": "Something"}},
        content_type="application/json",
        headers={"X-Correlation-ID": "release-7"},
    )

    assert answer.status_code in (200, 201), answer.content
    assert answer["X-Correlation-ID"] == "release-7"
    assert {each.correlation_id for each in LedgerEvent.objects.all()} == {"release-7"}
    assert correlation.asked.get() is None


def planted(secret: str) -> Iterator[str]:
    """Put a secret where one may stand."""
    yield f"Authorization: Bearer {secret}"
    yield f"Authorization: Basic {secret}"
    yield str({"Authorization": f"Bearer {secret}"})
    yield str([(b"authorization", f"Bearer {secret}".encode())])
    yield f"It came with Bearer {secret}."
    yield f"ioa_agent_Ab3dE9xZ_{secret}_0a1b2c3d"
    yield f"whsec_{secret}"
    yield f"GET /sign-in/12/{secret}/ was refused"
    yield f"https://control.example.com/sign-in/12/{secret}/"
    yield f"IOA_SECRET_KEY={secret}"
    yield str({"password": secret})
    yield f'{{"api_key": "{secret}"}}'
    yield f"Cookie: sessionid={secret}; csrftoken={secret}"
    yield json.dumps(json.dumps({"token": secret, "Authorization": f"Bearer {secret}"}))
    yield f'It was cut: password="{secret}'


@given(word)
def test_no_secret_gets_into_a_line_wherever_it_stands(secret: str) -> None:
    for text in planted(secret):
        try:
            raise ValueError(text)
        except ValueError as error:
            told = record(
                "Said %s", text, error=error, note=text, deep={"list": [text, {text: 1}]}
            )
        assert secret not in Text(LINE).format(told)
        assert secret not in Json().format(told)


@given(password)
def test_passwords_in_addresses_are_hidden(secret: str) -> None:
    for address in (f"postgres://ada:{secret}@db/ioa", f"redis://:{secret}@cache:6379/0"):
        told = record("Cannot reach %s", address, where=address)
        assert secret not in Text(LINE).format(told)
        found = line(told)
        assert secret not in found["message"]
        assert secret not in found["where"]
        assert found["message"].startswith("Cannot reach ")


def test_real_secrets_of_every_sort_are_hidden(settings: Any) -> None:
    settings.METRICS_TOKEN = "metrics-token-of-ours"
    settings.DATABASES["default"]["PASSWORD"] = "plain-database-word"
    issued = f"ioa_agent_{'k' * tokens.KEY_LENGTH}_{'s' * tokens.SECRET_LENGTH}_0a1b2c3d"
    assert tokens.FORM.fullmatch(issued)
    secrets = [
        issued,
        new_secret(),
        django_settings.SECRET_KEY,
        django_settings.SECRETS_KEYS[0],
        "metrics-token-of-ours",
        "plain-database-word",
    ]
    try:
        for secret in secrets:
            told = record(f"It said ({secret}), then went on.", extra_field=secret)
            for text in (Text(LINE).format(told), Json().format(told)):
                assert secret not in text
                assert "then went on." in text
    finally:
        settings.DATABASES["default"]["PASSWORD"] = ""


@every_row(
    "piece",
    [
        *("a", "a-", " ", "@", "\\", "://", "://a:", "/sign-in/1", "ioa_agent", "bearer "),
        *("token ", "token=", "token='", 'token="', 'secret\\"', "authorization: "),
    ],
)
def test_no_text_is_so_odd_that_hiding_takes_long(piece: str) -> None:
    began = time.perf_counter()

    redact(piece * (200_000 // len(piece)))

    assert time.perf_counter() - began < 5


def test_a_field_with_the_name_of_a_secret_is_hidden_whatever_it_holds() -> None:
    found = line(record("x", client_secret="ab", deep={"Authorization": "q", "tokens": 5}))

    assert found["client_secret"] == "[hidden]"
    assert found["deep"] == {"Authorization": "[hidden]", "tokens": 5}


@pytest.mark.parametrize(
    "text",
    [
        "controllers/agent-performance used 5000 tokens: more than 4000",
        "The token of agent/robin is revoked.",
        "http://127.0.0.1:8000/approvals/7 answered 409 at user@example.com",
        "ioa_site.server.web_server and ioa_database_up are names",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Text("%(message)s").format(record(text)) == text


def test_the_log_of_the_web_server_goes_the_same_way() -> None:
    from ioa_site.server.web_server import configured

    configured(lambda: None, 1)

    assert not logging.getLogger("uvicorn.error").handlers
    assert not logging.getLogger("uvicorn").handlers


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_process_logs_in_the_form_it_is_told(tmp_path: Path, form: str) -> None:
    product = Product(tmp_path / "data", given={"IOA_LOG_FORMAT": form})
    said = "import logging, django; django.setup(); logging.getLogger('ioa.x').info('Hello.')"
    settings = {"DJANGO_SETTINGS_MODULE": "ioa_site.settings"}

    done = subprocess.run(
        [sys.executable, "-P", "-c", said],
        env=product.environment | settings,
        capture_output=True,
        text=True,
        check=True,
    )

    (written,) = done.stderr.splitlines()
    if form == "json":
        assert json.loads(written)["message"] == "Hello."
    else:
        assert written.endswith("INFO ioa.x Hello.")


def test_an_unknown_format_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOA_LOG_FORMAT", "xml")

    with pytest.raises(ImproperlyConfigured, match="IOA_LOG_FORMAT must be text or json"):
        environment.env_choice("IOA_LOG_FORMAT", ("text", "json"))
