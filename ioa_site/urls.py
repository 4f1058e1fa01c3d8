"""Where everything is: pages, API, admin."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from controllers import views as control
from ioa_site import unavailable

handler400 = control.not_understood
handler500 = unavailable.answer

urlpatterns = [
    path("", include("controllers.pages.urls")),
    path("live/", include("controllers.live.urls")),
    path("", include("controllers.entrance.urls")),
    path("healthz", control.healthz, name="healthz"),
    path("readyz", control.readyz, name="readyz"),
    path("metrics", control.metrics, name="metrics"),
    path("api/v1/", include("controllers.api.urls")),
    path("api/v1/", include("resources.api.urls")),
    path("admin/login/", control.admin_door),
    path("admin/", admin.site.urls),
]
