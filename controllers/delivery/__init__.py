"""Messages to people: told with what they are about, sent afterwards, kept in the product."""

from __future__ import annotations

from controllers.delivery.channels import Missing, map_channel, test_channel, unmap_channel
from controllers.delivery.listing import Named, named
from controllers.delivery.outbox import Message, tell, tell_all
from controllers.delivery.sending import send_due, send_one
from controllers.delivery.services import Refused

__all__ = [
    "Message",
    "Missing",
    "Named",
    "Refused",
    "map_channel",
    "named",
    "send_due",
    "send_one",
    "tell",
    "tell_all",
    "test_channel",
    "unmap_channel",
]
