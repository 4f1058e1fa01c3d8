"""The admin: a page per kind, the ledger, the tokens. Writes go through the use cases below."""

from __future__ import annotations

from django.contrib import admin

from resources.admin import kinds, records, tokens

__all__ = ["kinds", "records", "tokens"]

admin.site.site_header = admin.site.site_title = "IOA Control"
admin.site.index_title = "Admin"
