"""Notifications: what people are told, once, and over which channel.

An alert opens once and ends when its cause ends. A message is a row in the outbox, written in
the transaction of what it is about, and sent afterwards.

Words:
- alert: something people should know until it is over
- channel: a name with a service behind it, such as a mail address
- outbox: messages that are still to be sent
"""

__all__ = ["alerts", "delivery"]
