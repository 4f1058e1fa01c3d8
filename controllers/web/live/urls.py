"""Where live pages ask what they missed; the socket is at `/live`, see `ioa_site.asgi`."""

from __future__ import annotations

from django.urls import path

from controllers.web.live.views import poll

urlpatterns = [path("poll", poll, name="live-poll")]
