"""The pages: the organisation at a glance, and one resource."""

from __future__ import annotations

from resources.views.detail import resource
from resources.views.overview import start

__all__ = ["resource", "start"]
