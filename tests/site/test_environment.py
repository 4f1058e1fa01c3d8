"""Environment variables: what is read, and the sentence a bad one gets."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from ioa_site.settings import environment


def test_no_address_means_sqlite_in_the_data_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)

    database = environment.env_database("DATABASE_URL", tmp_path / "ioa.sqlite3")

    assert database["NAME"] == str(tmp_path / "ioa.sqlite3")
    assert database["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "synchronous=FULL" in database["OPTIONS"]["init_command"]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (
            "postgres://ada:s%40fe@db.example:6432/ioa?sslmode=require",
            {"USER": "ada", "PASSWORD": "s@fe", "HOST": "db.example", "PORT": "6432"},
        ),
        ("postgresql://localhost/ioa", {"USER": "", "HOST": "localhost", "PORT": ""}),
        ("postgres://ada@/ioa?host=/run/pg", {"USER": "ada", "HOST": "/run/pg", "NAME": "ioa"}),
    ],
)
def test_a_postgresql_address_is_taken_apart(
    monkeypatch: pytest.MonkeyPatch, address: str, expected: dict[str, str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", address)

    database = environment.env_database("DATABASE_URL", Path("unused"))

    assert database | expected == database
    assert database["OPTIONS"]["pool"]


@pytest.mark.parametrize(
    "address",
    ["mysql://localhost/ioa", "sqlite://ioa.sqlite3", "sqlite:///", "postgres://host:port/ioa"],
)
def test_a_bad_database_address_is_named(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("DATABASE_URL", address)

    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        environment.env_database("DATABASE_URL", Path("unused"))


def test_a_secret_is_made_once_and_only_its_owner_can_read_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("IOA_SECRET_KEY", raising=False)
    file = tmp_path / "var" / "secret_key"

    first = environment.env_secret("IOA_SECRET_KEY", file)
    second = environment.env_secret("IOA_SECRET_KEY", file)

    assert first == second
    assert len(first) >= 50
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["secret_key"]


def test_a_short_secret_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IOA_SECRET_KEY", "short")

    with pytest.raises(ImproperlyConfigured, match="IOA_SECRET_KEY"):
        environment.env_secret("IOA_SECRET_KEY", tmp_path / "unused")


@pytest.mark.parametrize(
    ("word", "meaning"), [("1", True), ("yes", True), ("off", False), ("", False)]
)
def test_a_switch_is_read(monkeypatch: pytest.MonkeyPatch, word: str, meaning: bool) -> None:
    monkeypatch.setenv("IOA_DEBUG", word)

    assert environment.env_bool("IOA_DEBUG") is meaning


def test_a_bad_switch_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOA_DEBUG", "maybe")

    with pytest.raises(ImproperlyConfigured, match="IOA_DEBUG"):
        environment.env_bool("IOA_DEBUG")


def test_an_unknown_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOA_ALOWED_HOSTS", "x")

    with pytest.raises(ImproperlyConfigured, match="IOA_ALOWED_HOSTS"):
        environment.refuse_unknown()


def test_a_bad_base_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOA_BASE_URL", "control.example.com")

    with pytest.raises(ImproperlyConfigured, match="IOA_BASE_URL"):
        environment.env_url("IOA_BASE_URL", {"http", "https"})


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "1" * 12])
def test_a_rate_is_a_whole_number_above_nothing(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("IOA_API_RATE", text)

    with pytest.raises(ImproperlyConfigured, match="IOA_API_RATE must be a whole number above 0"):
        environment.env_number("IOA_API_RATE", 20)


def test_a_rate_that_is_not_given_is_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IOA_API_RATE", raising=False)
    assert environment.env_number("IOA_API_RATE", 20) == 20

    monkeypatch.setenv("IOA_API_RATE", " 50 ")
    assert environment.env_number("IOA_API_RATE", 20) == 50
