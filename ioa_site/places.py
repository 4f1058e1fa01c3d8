"""Where files lie: in a checkout beside our packages, in an installed package inside this one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

PACKAGE = Path(__file__).resolve().parent
# The build of the package lays the templates in here; see deploy/wheel.py.
INSTALLED = (PACKAGE / "templates").is_dir()
PAGES = PACKAGE if INSTALLED else PACKAGE.parent
NAME = "ioa-control"


def data_folder() -> Path:
    """Return the folder of the data: the one that is named, the checkout's or the person's."""
    if named := os.environ.get("IOA_DATA_DIR"):
        return Path(named).absolute()
    return personal_folder() if INSTALLED else PACKAGE.parent / "var"


def personal_folder() -> Path:
    """Return where programs keep the data of whoever runs them."""
    # A path that is not absolute is to be ignored, says the XDG Base Directory Specification.
    if (named := Path(os.environ.get("XDG_DATA_HOME", ""))).is_absolute():
        return named / NAME
    try:
        home = Path.home()
    except RuntimeError:
        raise ImproperlyConfigured(
            "You have no home folder: name a folder for the data in IOA_DATA_DIR."
        ) from None
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / NAME
    return home / ".local" / "share" / NAME
