"""Where every endpoint is, under `/api/v1/`."""

from __future__ import annotations

from django.urls import path, re_path

from resources.api.apply import Apply
from resources.api.description import Docs, Nothing, OpenAPI
from resources.api.documents import ResourceDocument
from resources.api.history import Conditions, Revision, Revisions
from resources.api.lists import ResourceList
from resources.api.observations import Observations
from resources.api.records import Events, Verify
from resources.api.status import ResourceStatus
from resources.api.watch import Watch

RESOURCE = "resources/<str:kind>/<str:name>"

urlpatterns = [
    path("resources/<str:kind>", ResourceList.as_view(), name="api-list"),
    path(RESOURCE, ResourceDocument.as_view(), name="api-resource"),
    path(f"{RESOURCE}/status", ResourceStatus.as_view(), name="api-status"),
    path(f"{RESOURCE}/revisions", Revisions.as_view(), name="api-revisions"),
    path(f"{RESOURCE}/revisions/<str:version>", Revision.as_view(), name="api-revision"),
    path(f"{RESOURCE}/conditions", Conditions.as_view(), name="api-conditions"),
    path("apply", Apply.as_view(), name="api-apply"),
    path("observations", Observations.as_view(), name="api-observations"),
    path("watch", Watch.as_view(), name="api-watch"),
    path("events", Events.as_view(), name="api-events"),
    path("audit/verify", Verify.as_view(), name="api-verify"),
    path("openapi.json", OpenAPI.as_view(), name="openapi"),
    path("docs", Docs.as_view(), name="api-docs"),
    re_path("", Nothing.as_view()),
]
