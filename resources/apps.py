"""The organisation: resources, their history and the ledger."""

from __future__ import annotations

import orjson
from django.apps import AppConfig
from django.db import connection


class ResourcesConfig(AppConfig):
    """Registers the app."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "resources"

    def ready(self) -> None:
        """Let PostgreSQL's driver decode documents as fast as we do."""
        if connection.vendor == "postgresql":
            from psycopg.types.json import set_json_loads

            set_json_loads(orjson.loads)
