"""Where everything is: pages, API, admin."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from controllers.web import health as control
from ioa_site.middleware import bad_request, database_errors
from resources.admin.admin_rights import site_urls

handler400 = bad_request.answer
handler500 = database_errors.answer

urlpatterns = [
    path("", include("controllers.web.urls")),
    path("live/", include("controllers.web.live.urls")),
    path("", include("controllers.signin.urls")),
    path("healthz", control.healthz, name="healthz"),
    path("readyz", control.readyz, name="readyz"),
    path("metrics", control.metrics, name="metrics"),
    path("api/v1/", include("controllers.api.urls")),
    path("api/v1/", include("resources.api.urls")),
    path("admin/login/", control.admin_door),
    path("admin/", site_urls(admin.site)),
]
