"""From the command to the first page: ours, and a Django project with nothing in it."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 60.0
EMPTY = """
import os, sys
import django
from django.conf import settings

settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    SECRET_KEY="x" * 50,
    STATIC_URL="static/",
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    ROOT_URLCONF=__name__,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3"}},
    INSTALLED_APPS=[
        "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes",
        "django.contrib.sessions", "django.contrib.messages", "django.contrib.staticfiles",
    ],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[{
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": [
            "django.template.context_processors.request",
            "django.contrib.auth.context_processors.auth",
            "django.contrib.messages.context_processors.messages",
        ]},
    }],
)
django.setup()
from django.contrib import admin
from django.core.asgi import get_asgi_application
from django.core.management import call_command
from django.urls import path

urlpatterns = [path("sign-in/", admin.site.login), path("admin/", admin.site.urls)]
call_command("migrate", interactive=False, verbosity=0)
import uvicorn

uvicorn.run(get_asgi_application(), port=int(sys.argv[1]), lifespan="off", log_level="warning")
"""


def ours(port: int) -> float:
    """Start the product on a new folder; return the seconds until its first page."""
    with tempfile.TemporaryDirectory(prefix="ioa-bench-") as folder:
        kept = {name: os.environ[name] for name in os.environ if not name.startswith("IOA_")}
        for name in ("DATABASE_URL", "REDIS_URL"):
            kept.pop(name, None)
        given = kept | {"IOA_DATA_DIR": folder, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-P", "-m", "ioa_site.cli", "up", "--port", str(port)]
        return until_served(command, port, Path(folder), given)


def theirs(port: int) -> float:
    """Start the empty project on a new folder; return the seconds until its first page."""
    with tempfile.TemporaryDirectory(prefix="ioa-bench-") as folder:
        script = Path(folder) / "empty.py"
        script.write_text(EMPTY, encoding="utf-8")
        command = [sys.executable, str(script), str(port)]
        return until_served(command, port, Path(folder), dict(os.environ))


def until_served(command: list[str], port: int, folder: Path, given: dict[str, str]) -> float:
    """Run a command until the page where people sign in is there."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, cwd=folder, env=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            while not served(port):
                if process.poll() is not None or time.perf_counter() - began > PATIENCE:
                    raise RuntimeError(f"{command} serves nothing.")
                time.sleep(0.005)
            return time.perf_counter() - began
        finally:
            process.terminate()


def served(port: int) -> bool:
    """Tell whether the page is there."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        line.request("GET", "/sign-in/")
        return line.getresponse().status == 200
    except OSError:
        return False
    finally:
        line.close()
