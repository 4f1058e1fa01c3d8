"""Where everything is: pages, API, admin."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from controllers import views as control
from resources import views as organisation

urlpatterns = [
    path("", organisation.start, name="start"),
    path("resources/<str:kind>/<str:name>", organisation.resource, name="resource"),
    path("sign-in/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("sign-in/<int:user_id>/<str:token>/", control.sign_in, name="sign-in"),
    path("sign-out/", LogoutView.as_view(), name="logout"),
    path("healthz", control.healthz, name="healthz"),
    path("readyz", control.readyz, name="readyz"),
    path("api/v1/", include("controllers.api.urls")),
    path("api/v1/", include("resources.api.urls")),
    path("admin/login/", control.admin_door),
    path("admin/", admin.site.urls),
]
