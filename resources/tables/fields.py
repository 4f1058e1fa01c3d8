"""Documents as columns."""

from __future__ import annotations

from typing import Any

import orjson
from django.db import models


class DocumentField(models.JSONField):
    """JSON kept as it was written, encoded and decoded with orjson."""

    def db_type(self, connection: Any) -> str | None:
        """Name the column type; jsonb would order keys by their length."""
        return "json" if connection.vendor == "postgresql" else super().db_type(connection)

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """Encode a document."""
        return orjson.dumps(value).decode()

    def select_format(self, compiler: Any, sql: str, params: Any) -> tuple[str, Any]:
        """Ask for text: PostgreSQL's driver would decode it more slowly."""
        if compiler.connection.vendor == "postgresql":
            return f"({sql})::text", params
        return sql, params

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Decode a stored document; a part of one may come decoded."""
        return orjson.loads(value) if isinstance(value, str) else value
