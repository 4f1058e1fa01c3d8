"""The loop and the humans over it."""

from __future__ import annotations

from django.apps import AppConfig


class ControllersConfig(AppConfig):
    """Registers the app."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "controllers"
