"""The loop and the humans over it."""

from __future__ import annotations

from django.apps import AppConfig


class ControllersConfig(AppConfig):
    """Registers the app."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "controllers"

    def ready(self) -> None:
        """Let everything that is read ask for the roles of whoever looks."""
        from controllers.access.roles import scopes

        scopes.install()
