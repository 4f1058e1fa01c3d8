"""While the database is away people and programs are told so, and the log stays readable."""

from __future__ import annotations

import logging
import sys

import pytest
from django.contrib.auth.models import User
from django.db import DataError, InterfaceError, OperationalError
from django.test import Client

from controllers.web.overview.overview_page import Overview
from ioa_site.middleware.database_errors import Shorten
from resources.tables import database_errors

pytestmark = pytest.mark.django_db

AWAY = OperationalError("the connection is lost")


class NoRoom(Exception):
    sqlstate = "53100"


def full() -> OperationalError:
    error = OperationalError("could not extend file")
    error.__cause__ = NoRoom()
    return error


@pytest.fixture
def client() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.create_user("maya"))
    return client


@pytest.mark.parametrize("error", [AWAY, InterfaceError("connection already closed")])
def test_a_page_says_that_the_database_is_away(
    client: Client, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def respond(self: Overview) -> None:
        raise error

    monkeypatch.setattr(Overview, "respond", respond)

    answer = client.get("/")

    assert answer.status_code == 503
    assert answer["Retry-After"] == database_errors.RETRY_SECONDS
    assert "The database does not answer. Try again in a moment." in answer.content.decode()


def test_so_does_a_request_whose_session_cannot_be_read(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(self: object) -> None:
        raise AWAY

    monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore.load", load)

    assert client.get("/approvals").status_code == 503


def test_a_fault_of_ours_is_still_a_fault(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def respond(self: Overview) -> None:
        raise DataError("out of range")

    monkeypatch.setattr(Overview, "respond", respond)

    assert client.get("/").status_code == 500


@pytest.mark.parametrize("error", [full(), OperationalError("database or disk is full")])
def test_a_full_disk_is_called_so(error: OperationalError) -> None:
    assert database_errors.sentence(error).startswith("The disk of the database is full")


def test_a_fault_that_is_no_database_error_is_never_a_full_disk() -> None:
    assert not database_errors.is_full(ValueError("disk is full"))


def record(error: Exception) -> logging.LogRecord:
    try:
        raise error
    except type(error):
        return logging.LogRecord(
            "django.request", logging.ERROR, "x.py", 1, "Failed: %s", ("/",), sys.exc_info()
        )


def test_the_log_has_one_line_for_an_outage_and_a_trace_for_a_fault() -> None:
    away, fault = record(AWAY), record(ValueError("ours"))

    assert Shorten().filter(away)
    assert Shorten().filter(fault)

    assert away.getMessage() == "Failed: /: the database refused: the connection is lost"
    assert away.exc_info is None
    assert fault.exc_info is not None
