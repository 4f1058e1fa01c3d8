"""Fields that many serializers have in common."""

from __future__ import annotations

from typing import Any

from resources.api.fields import Text, TextOf

LATER = "2026-03-04T10:00:00Z"
STORY = "8de258d7-f286-4d86-b385-cadd0a678dfb"
DIGEST = "5e1f3a7d0c9b8a6e4f2d1c0b9a8f7e6d5c4b3a29181706f5e4d3c2b1a0f9e8d7"


class Reference(TextOf):
    """A resource."""

    usual = "agent/scribe"

    def __init__(self, help_text: str = "Such as `agent/scribe`.", **kwargs: Any) -> None:
        super().__init__(help_text, **kwargs)


class ActorText(Text):
    """Who did something."""

    usual = "person/maya"

    def __init__(
        self,
        help_text: str = "Such as `person/maya`, `agent/scribe` or `controller/budget-guardian`.",
        **kwargs: Any,
    ) -> None:
        super().__init__(help_text, **kwargs)


class Digest(Text):
    """A digest."""

    usual = DIGEST

    def __init__(self, help_text: str = "A SHA-256 in hexadecimal.", **kwargs: Any) -> None:
        super().__init__(help_text, **kwargs)


class Story(Text):
    """What the ledger's entries of one story carry."""

    usual = STORY

    def __init__(
        self,
        help_text: str = "The ledger's entries carry it: `/events?correlationId=`.",
        **kwargs: Any,
    ) -> None:
        super().__init__(help_text, **kwargs)


class Reason(Text):
    """Why somebody does something; the use case says how long it may be."""

    def __init__(
        self, help_text: str = "Why; people and the ledger will read it.", **kwargs: Any
    ) -> None:
        super().__init__(help_text, schema={"maxLength": 2000}, **kwargs)
