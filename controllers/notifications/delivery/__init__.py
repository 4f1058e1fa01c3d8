"""Messages to people: told with what they are about, sent afterwards, kept in the product."""

from __future__ import annotations

from controllers.notifications.delivery.channel_list import Named, named
from controllers.notifications.delivery.channels import (
    map_channel,
    test_channel,
    unmap_channel,
)
from controllers.notifications.delivery.outbox import Message, tell, tell_all
from controllers.notifications.delivery.sender import send_due, send_one

__all__ = [
    "Message",
    "Named",
    "map_channel",
    "named",
    "outbox",
    "send_due",
    "send_one",
    "tell",
    "tell_all",
    "test_channel",
    "unmap_channel",
]
