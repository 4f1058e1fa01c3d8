"""Print a new one-time sign-in link for a person."""

from __future__ import annotations

import argparse

from ioa_site.commands import Needs
from ioa_site.server.terminal import complain, say

NEEDS: Needs = "store"
HELP = "print a one-time sign-in link for a person"
EPILOG = """examples:
  ioa sign-in admin           the first administrator, made when there is none
  ioa sign-in maya --base https://control.example.com"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the options."""
    parser.add_argument("person", help="user name")
    parser.add_argument(
        "--base", default="http://127.0.0.1:8000", help="address of the site (%(default)s)"
    )


def run(options: argparse.Namespace) -> int:
    """Print the link."""
    from django.contrib.auth.models import User
    from django.utils import timezone

    from controllers.access import people

    people.ensure_administrator(timezone.now())
    user = User.objects.filter(username=options.person, is_active=True).first()
    if user is None:
        complain(f"ioa: there is no active person called {options.person}.")
        return 1
    say(people.sign_in_link(user, options.base))
    return 0
