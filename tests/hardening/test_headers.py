"""What browsers are told, what they report, and what other sites may not send."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controllers.models import Hold
from resources.api import rate_limits
from resources.observability import metrics
from tests.conftest import given
from tests.journeys.product import Product

ROOT = Path(__file__).resolve().parent.parent.parent
PRODUCTION = {
    "IOA_BASE_URL": "https://control.example.com",
    "IOA_SECRET_KEY": "4f9d1c7e8b2a6053" * 4,
    "IOA_SECRETS_KEY": "77c2e5a9d03b1f46" * 4,
}
COOKIES = """
import django; django.setup()
from django.conf import settings
print(settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME, settings.SESSION_COOKIE_SECURE,
      settings.SESSION_COOKIE_HTTPONLY, settings.SESSION_COOKIE_SAMESITE)
"""


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the settings of production."""
    product = Product(tmp_path / "data", given=PRODUCTION)
    known = {**product.environment, "DJANGO_SETTINGS_MODULE": "ioa_site.settings"}
    return subprocess.run(
        [sys.executable, *arguments], env=known, cwd=ROOT, capture_output=True, text=True
    )


@pytest.mark.full
@pytest.mark.sqlite
def test_the_check_before_deploying_finds_nothing(tmp_path: Path) -> None:
    """check --deploy is clean with the settings of production."""
    ran = run(tmp_path, "manage.py", "check", "--deploy", "--fail-level", "WARNING")

    assert ran.returncode == 0, ran.stderr
    assert "no issues" in ran.stdout


@pytest.mark.sqlite
def test_served_by_https_cookies_are_for_this_host_alone(tmp_path: Path) -> None:
    ran = run(tmp_path, "-c", COOKIES)

    assert ran.stdout.split() == ["__Host-sessionid", "__Host-csrftoken", "True", "True", "Lax"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/sign-in/", "/nowhere", "/api/v1/resources/agent"])
def test_every_answer_carries_the_headers(path: str) -> None:
    answer = Client().get(path)

    policy = answer["Content-Security-Policy"]
    for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
        assert part in policy
    assert "report-uri /reports/csp" in policy
    assert "unsafe" not in policy
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"


@pytest.mark.django_db
def test_breaches_that_browsers_report_are_counted_and_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rate_limits, "local", rate_limits.Local())
    browser = Client(enforce_csrf_checks=True)
    before = metrics.CSP_REPORTS._value.get()

    sent = [
        browser.post("/reports/csp", b'{"csp-report": {}}', content_type="application/csp-report")
        for _ in range(40)
    ]

    assert {each.status_code for each in sent} == {204, 429}
    heard = [each for each in sent if each.status_code == 204]
    assert 20 <= len(heard) < 30
    assert metrics.CSP_REPORTS._value.get() - before == len(heard)
    assert "Retry-After" in sent[-1].headers
    assert browser.get("/reports/csp").status_code == 405


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("site", "status"),
    [("cross-site", 403), ("same-site", 403), ("same-origin", 201), ("none", 201), (None, 201)],
)
def test_what_another_site_sends_is_not_done(site: str | None, status: int) -> None:
    from django.utils import timezone

    from controllers.access import people
    from resources.documents.actor import SYSTEM

    user: User = people.add_person(
        "ines", name="Ines", role="Operators", actor=SYSTEM, now=timezone.now()
    )
    client = Client()
    client.force_login(user)
    headers: dict[str, Any] = {"Sec-Fetch-Site": site} if site else {}
    said = {"kind": "stop", "scope": "organisation", "reason": "Look."}

    answer = client.post("/api/v1/holds", said, content_type="application/json", headers=headers)

    assert answer.status_code == status, answer.content
    assert Hold.objects.count() == (status == 201)
    if status == 403:
        assert answer.json()["detail"].startswith("This was sent from another site.")
        page = client.post("/pause", {"reason": "Look."}, headers=headers)
        assert page.status_code == 403
        assert client.get("/approvals", headers=headers).status_code == 200


def test_the_environment_of_the_tests_has_no_settings_of_production() -> None:
    assert not set(PRODUCTION) & set(os.environ)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/profile", "/profile/security", "/profile/password/new", "/audit", "/api/v1/holds"]
)
def test_pages_are_not_kept_by_browsers(path: str) -> None:
    client = Client()
    client.force_login(given(User.objects.create_user("vera"), "viewer"))

    assert "no-store" in client.get(path)["Cache-Control"]
