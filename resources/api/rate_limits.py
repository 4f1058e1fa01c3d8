"""How often one principal may call: a token or a person, with a bucket for each sort of call.

With Redis all processes share the buckets; without it, or while it does not answer, each process
keeps its own. Either way a refusal costs no query.
"""

from __future__ import annotations

import logging
import threading
import time
from functools import cache
from typing import Any

import redis
from django.conf import settings
from django.contrib.auth.models import User
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from resources.tables.models import AgentToken

logger = logging.getLogger("ioa.api")

# A person types and a page asks less often than a program does.
PEOPLES_SHARE = 0.5
BURST_SECONDS = 3
REDIS_SECONDS = 0.25
# How long Redis is left alone after it did not answer, so that calls do not wait for it.
REST_SECONDS = 5.0
# What adding and taking away large numbers leaves over.
GRAIN = 0.000001
MOST_BUCKETS = 10_000
PREFIX = "ioa-rate"
# Keeps in one number when a bucket will be full again. Redis runs it as one step.
TAKE = """
local at = redis.call('TIME')
local now, every, depth = at[1] + at[2] / 1000000, tonumber(ARGV[1]), tonumber(ARGV[2])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now) + every
local wait = full - now - depth
if wait > 0.000001 then return string.format('%.6f', wait) end
redis.call('SET', KEYS[1], string.format('%.6f', full), 'PX', math.ceil((full - now) * 1000))
return '0'
"""


class Local:
    """The buckets of this process."""

    def __init__(self) -> None:
        self.full: dict[str, float] = {}
        self.lock = threading.Lock()

    def take(self, key: str, every: float, depth: float) -> float:
        """Take one call out of a bucket; return how long to wait when it is empty."""
        now = time.monotonic()
        with self.lock:
            full = max(self.full.get(key, now), now) + every
            wait = full - now - depth
            if wait > GRAIN:
                return wait
            if len(self.full) >= MOST_BUCKETS:
                self.full = {name: at for name, at in self.full.items() if at > now}
            self.full[key] = full
            return 0.0


class Shared:
    """The buckets of all processes, in Redis."""

    def __init__(self, address: str) -> None:
        client: Any = redis.Redis.from_url(
            address, socket_timeout=REDIS_SECONDS, socket_connect_timeout=REDIS_SECONDS
        )
        self.script = client.register_script(TAKE)
        self.rests_until = 0.0

    def take(self, key: str, every: float, depth: float) -> float:
        """Do the same for all processes; while Redis does not answer, for this one alone."""
        if time.monotonic() >= self.rests_until:
            try:
                return float(self.script(keys=[f"{PREFIX}:{key}"], args=[every, depth]))
            except redis.RedisError as error:
                self.rests_until = time.monotonic() + REST_SECONDS
                logger.warning("Rates are counted by each process alone: %s", error)
        return local.take(key, every, depth)


local = Local()


@cache
def shared(address: str) -> Shared:
    """Return the buckets in one Redis."""
    return Shared(address)


def take(key: str, every: float, depth: float) -> float:
    """Take one call out of a bucket of all processes; return how long to wait when it is empty."""
    buckets = shared(settings.REDIS_URL) if settings.REDIS_URL else local
    return buckets.take(key, every, depth)


class Rates(BaseThrottle):
    """Limits each principal; what a person says to stop or decide is never limited."""

    waited = 0.0

    def allow_request(self, request: Request, view: Any) -> bool:
        """Tell whether a call may go on."""
        key, rate = bucket_of(request, view), float(settings.API_RATE)
        if not key:
            return True
        agent = isinstance(request.auth, AgentToken)
        every = 1 / (rate if agent else rate * PEOPLES_SHARE)
        depth = every * max(1.0, BURST_SECONDS * rate)
        self.waited = take(key, every, depth)
        return self.waited == 0

    def wait(self) -> float:
        """Return how long the caller should wait."""
        return self.waited


def bucket_of(request: Request, view: Any) -> str:
    """Name the bucket a call comes out of; nothing when it is not limited."""
    safe = request.method in ("GET", "HEAD")
    sort = "reads" if safe else "writes"
    if isinstance(request.auth, AgentToken):
        # Asking before acting is not to suffer from how much an agent reports, nor the reverse.
        asks = str(view.write_scope).startswith("admission:")
        return f"token/{request.auth.key_id}/{'admission' if asks else sort}"
    if not isinstance(request.user, User) or (view.always_heard and not safe):
        return ""
    return f"person/{request.user.pk}/{sort}"
