"""The API's description, its browsable form, and the answer for everything that is not there."""

from __future__ import annotations

from functools import cache
from typing import Any

import orjson
from csp.constants import UNSAFE_INLINE
from csp.decorators import csp_update
from django.http import HttpResponse
from django.utils.decorators import method_decorator
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

from resources.api.base import View
from resources.api.formats import JSONRenderer
from resources.documents.problems import missing
from resources.usecases.access_rules import OPEN, rules


@extend_schema(exclude=True)
class OpenAPI(View):
    """The description of the API; the same for everybody."""

    rights = rules(GET=OPEN)
    permission_classes = [AllowAny]
    authentication_classes: list[Any] = []
    renderer_classes = [JSONRenderer]
    scope = ""

    def get(self, request: Request) -> HttpResponse:
        """Return the description."""
        return HttpResponse(description(), content_type="application/json")


@cache
def description() -> bytes:
    """Build the description once: it changes only with the code."""
    generator: Any = SchemaGenerator
    return orjson.dumps(generator().get_schema(request=None, public=True))


# Swagger UI writes styles into its own elements.
@method_decorator(csp_update({"style-src": [UNSAFE_INLINE]}), name="dispatch")
class Docs(SpectacularSwaggerSplitView):
    """The browsable description."""

    rights = rules(GET=OPEN)
    permission_classes = [AllowAny]
    authentication_classes: list[Any] = []
    url_name = "openapi"
    title = "IOA Control API"


@extend_schema(exclude=True)
class Nothing(View):
    """Every other address under the API."""

    rights = rules(GET=OPEN, POST=OPEN, PUT=OPEN, PATCH=OPEN, DELETE=OPEN)
    permission_classes = [AllowAny]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Answer 404, whoever asks and however."""
        raise missing("There is nothing here. /api/v1/docs lists what there is.")
