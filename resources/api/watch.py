"""`/watch`: every change as server-sent events, from any version that is still kept."""

from __future__ import annotations

from django.http import StreamingHttpResponse
from rest_framework.request import Request

from resources.api import parameters
from resources.api.base import View
from resources.api.feed import SCOPE, Stream
from resources.api.formats import EventStreamRenderer
from resources.api.schema import header, operation, query
from resources.api.serializers import ChangesSerializer
from resources.usecases import watch
from resources.usecases.access_rules import api

BOOKMARK_SECONDS = 15


class Watch(View):
    """The feed of changes."""

    rights = api()
    tag = "Watch"
    http_method_names = ["get"]
    scope = SCOPE
    renderer_classes = [EventStreamRenderer]
    parameters = {"GET": ("kind", "since", "bookmarkSeconds")}

    @operation(
        "watchResources",
        "Follow every change as server-sent events",
        parameters=[
            query("kind", "Only changes of this kind."),
            query("since", "Begin after this version; without it, begin now.", type=int),
            query(
                "bookmarkSeconds", "How often to say where the feed stands (1 to 60).", type=int
            ),
            header("Last-Event-ID", "The last version received; goes before `since`."),
        ],
        answers={200: ChangesSerializer},
        errors=(400, 410),
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Begin a stream; 410 when its beginning is no longer kept."""
        kind = parameters.kind(request)
        every = parameters.number(request, "bookmarkSeconds", least=1, most=60)
        cursor = beginning(request)
        watch.changes(cursor, limit=1)
        stream = Stream(request, kind.name if kind else None, cursor, every or BOOKMARK_SECONDS)
        response = StreamingHttpResponse(stream.frames(), content_type="text/event-stream")
        response["X-Accel-Buffering"] = "no"
        return response


def beginning(request: Request) -> int:
    """Return the version after which a stream begins."""
    last = request.headers.get("Last-Event-ID")
    if last is not None:
        return parameters.as_number(last, "Last-Event-ID")
    since = parameters.number(request, "since")
    return watch.current() if since is None else since
