"""The organisation: resources, their history and the ledger."""

from __future__ import annotations

import orjson
from django.apps import AppConfig
from django.core import checks
from django.db import connection


class ResourcesConfig(AppConfig):
    """Registers the app."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "resources"

    def ready(self) -> None:
        """Check every address; let PostgreSQL's driver decode documents as fast as we do."""
        from resources.usecases.access_table import check_addresses

        checks.register(check_addresses, checks.Tags.urls)
        if connection.vendor == "postgresql":
            from psycopg.types.json import set_json_loads

            set_json_loads(orjson.loads)
