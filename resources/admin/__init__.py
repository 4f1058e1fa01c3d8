"""Admin: a page for each kind, the ledger and the tokens. It writes through the use cases.

Specs are edited as YAML with a difference to review; what was typed is never lost.

Words:
- typed document: what somebody typed, with its faults by line
"""

from __future__ import annotations

from django.contrib import admin

from resources.admin import kinds, records, tokens

__all__ = ["admin_rights", "kinds", "records", "tokens"]

admin.site.site_header = admin.site.site_title = "IOA Control"
admin.site.index_title = "Admin"
