"""JSON and YAML in and out: strict readers behind a cap, fast writers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

import orjson
from django.utils.http import parse_header_parameters
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from resources.documents.problems import TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, Problem
from resources.documents.reader import read_json
from resources.documents.yaml_text import read_all, read_yaml, write_yaml

Context = Mapping[str, Any] | None

# What every body is read as; ASCII is a part of it.
UTF_8 = {"utf-8", "utf8", "us-ascii"}


class Parser(BaseParser):
    """Reads a whole body up to the limit of its view, then hands it to a strict reader."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Context = None
    ) -> Any:
        """Return the plain values of a body."""
        check_charset(media_type or "")
        view = (parser_context or {})["view"]
        # One byte more than allowed tells a body that is too large from one that just fits.
        data = stream.read(view.body_limit + 1)
        if len(data) > view.body_limit:
            most = view.body_limit // 1024
            raise Problem(TOO_LARGE, f"A body here has at most {most} kB.")
        return self.read(data)

    def read(self, data: bytes) -> Any:
        """Turn the text into plain values."""
        raise NotImplementedError


def check_charset(media_type: str) -> None:
    """Refuse a body that says it is no UTF-8: who believes that reads something else in it."""
    _, parameters = parse_header_parameters(media_type)
    if parameters.get("charset", "utf-8").lower() not in UTF_8:
        raise Problem(UNSUPPORTED_MEDIA_TYPE, "Send UTF-8.")


class JSONParser(Parser):
    """One JSON value."""

    media_type = "application/json"

    def read(self, data: bytes) -> Any:
        """Read JSON."""
        return read_json(data)


class MergePatchParser(JSONParser):
    """A merge patch (RFC 7396)."""

    media_type = "application/merge-patch+json"


class YAMLParser(Parser):
    """One YAML document."""

    media_type = "application/yaml"

    def read(self, data: bytes) -> Any:
        """Read one document."""
        return read_yaml(data)


class TextYAMLParser(YAMLParser):
    """The same under its other name."""

    media_type = "text/yaml"


class YAMLStreamParser(Parser):
    """A stream of YAML documents; a single one is itself."""

    media_type = "application/yaml"

    def read(self, data: bytes) -> Any:
        """Read every document."""
        documents = read_all(data)
        return documents[0] if len(documents) == 1 else documents


class TextYAMLStreamParser(YAMLStreamParser):
    """The same under its other name."""

    media_type = "text/yaml"


class JSONRenderer(BaseRenderer):
    """Plain values as JSON."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Context = None
    ) -> bytes:
        """Write JSON; nothing stays nothing."""
        return b"" if data is None else orjson.dumps(data)


class YAMLRenderer(BaseRenderer):
    """Plain values as YAML."""

    media_type = "application/yaml"
    format = "yaml"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Context = None
    ) -> str:
        """Write one YAML document of the values that JSON has; nothing stays nothing."""
        # JSON's writer takes words of the models for the texts they are, YAML's takes plain ones.
        return "" if data is None else write_yaml(orjson.loads(orjson.dumps(data)))


class TextYAMLRenderer(YAMLRenderer):
    """The same under its other name."""

    media_type = "text/yaml"


class EventStreamRenderer(BaseRenderer):
    """Lets a client ask for server-sent events; the stream itself is written by the view."""

    media_type = "text/event-stream"
    format = "events"
