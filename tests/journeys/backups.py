"""Backups of the database a test uses, made and put back with the tools that people have."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest
from django.db import connection

from tests.api.serving import database_url
from tests.services import postgres_folders


def tool(name: str) -> str:
    """Find a program beside `postgres`; without it nothing is shown, and CI says so."""
    for folder in postgres_folders():
        if (folder / name).exists():
            return str(folder / name)
    if os.environ.get("CI", "").lower() in {"1", "true"}:
        raise AssertionError(f"There is no {name} beside postgres.")
    pytest.skip(f"NOT TESTED: there is no {name} beside postgres.")


def back_up(file: Path) -> None:
    """Back the database up while it is in use."""
    if connection.vendor == "postgresql":
        command = [tool("pg_dump"), "--format=custom", f"--file={file}", database_url()]
        subprocess.run(command, check=True)
        return
    copy(Path(connection.settings_dict["NAME"]), file)


def restore(file: Path) -> None:
    """Put a backup in the place of the database."""
    connection.close()
    if connection.vendor == "postgresql":
        command = [tool("pg_restore"), "--clean", "--if-exists", "--single-transaction"]
        subprocess.run([*command, f"--dbname={database_url()}", str(file)], check=True)
        return
    copy(file, Path(connection.settings_dict["NAME"]))


def copy(source: Path, target: Path) -> None:
    """Do what `.backup` and `.restore` of the sqlite3 program do."""
    with sqlite3.connect(source) as read, sqlite3.connect(target) as written:
        read.backup(written)
    read.close()
    written.close()
