"""The services behind channels: which addresses are accepted, and how one message is sent.

Apprise speaks to them. Only services that go out over the network are accepted: nothing that runs
a program, writes a file or reads one, and nothing on this machine unless the settings say so.
"""

from __future__ import annotations

import ipaddress
import logging
import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings

from resources.documents.problems import Problem, invalid

if TYPE_CHECKING:
    from apprise import AppriseResult, NotifyBase

logger = logging.getLogger("ioa.delivery")

LONGEST_ADDRESS = 2_000
CONNECT_SECONDS, READ_SECONDS = 4.0, 5.0
# Services with a host of their own, which an address cannot choose.
HOSTED = {
    "discord",
    "gchat",
    "mailgun",
    "opsgenie",
    "pagerduty",
    "pover",
    "sendgrid",
    "signl4",
    "slack",
    "splunk",
    "tgram",
    "twilio",
    "wxteams",
}
# Services on a host that the address names; all of them encrypt, but mail may leave that out.
SECURE = {"forms", "gotifys", "jsons", "mmosts", "ntfys", "rockets", "workflows", "xmls"}
MAIL = {"mailto", "mailtos"}
# Without encryption only to this machine, for trying things out.
PLAIN = {"form", "json", "xml"}
# What makes a service read files or other addresses.
READING = {"template", "pgp_mode", "pgp_key", "pgp_privkey", "use_wkd"}
SEVERITIES = {"info": "info", "warning": "warning", "error": "failure", "critical": "failure"}
CODE = re.compile(r"error=(\d{3})")


@dataclass(frozen=True)
class Letter:
    """One message as it goes out."""

    title: str
    body: str
    severity: str
    # The same for every attempt: whoever receives it twice can tell.
    key: str
    # What incidents are opened, found again and closed by.
    thread: str
    closes: bool = False


def hint_of(address: str) -> str:
    """Check an address; return what may be shown of it."""
    schema, service = opened(address)
    refuse_inside(host_of(schema, service))
    tail = address.strip().partition("?")[0].rstrip("/")[-4:]
    return f"{schema}://…{tail}"


def send(address: str, letter: Letter) -> str:
    """Send a message; return what went wrong, or nothing."""
    try:
        schema, service = opened(address)
        refuse_inside(host_of(schema, service))
        return spoken(service, letter)
    except Problem as problem:
        return problem.message
    except Exception:  # a fault of one plugin costs one message its turn, nothing else
        logger.exception("A service could not be spoken to.")
        return "The service could not be spoken to."


def spoken(service: NotifyBase, letter: Letter) -> str:
    """Say a message to a service; return what went wrong, or nothing."""
    from apprise import Apprise

    label(service, letter)
    sender = Apprise(asset=service.asset)
    sender.add(service)
    kind = "success" if letter.closes else SEVERITIES[letter.severity]
    result = sender.notify(letter.body, letter.title, notify_type=kind, body_format="text")
    return "" if result else failure(result)


def opened(address: str) -> tuple[str, NotifyBase]:
    """Read an address into its schema and a service that can be spoken to."""
    from apprise import Apprise
    from apprise.plugins import url_to_dict

    quieten()
    text = address.strip()
    if not text or len(text) > LONGEST_ADDRESS or not text.isprintable():
        raise invalid("Give the service's address on one line, such as slack://….")
    found: dict[str, Any] | None = url_to_dict(text)  # type: ignore[no-untyped-call]
    schema = str(found["schema"]).lower() if found else text.partition(":")[0].lower()[:20]
    if found is None or schema not in HOSTED | SECURE | MAIL | PLAIN:
        raise invalid(f"{schema!r} is not a service that messages are sent to, or lacks a part.")
    if READING.intersection(found):
        raise invalid("The address must not name files, templates or keys to be read.")
    service = Apprise.instantiate(found, asset=asset(), suppress_exceptions=True)
    if service is None:
        raise invalid(f"The {schema} address lacks a part, or a part of it is wrong.")
    bound(service)
    return schema, service


def asset() -> Any:
    """Say who is speaking; no logo is fetched, nothing is kept, no redirect is followed."""
    from apprise import AppriseAsset

    return AppriseAsset(
        app_id="IOA Control",
        app_desc="IOA Control",
        app_url=settings.BASE_URL or "",
        image_url_mask="",
        image_url_logo="",
        http_redirects=False,
        async_mode=False,
        service_timeout=0,
        storage_mode="memory",
    )


def bound(service: NotifyBase) -> None:
    """Keep a service from waiting long or following redirects, whatever its address says."""
    service.redirects = False
    service.socket_connect_timeout = CONNECT_SECONDS
    service.socket_read_timeout = READ_SECONDS


def host_of(schema: str, service: NotifyBase) -> tuple[str, bool]:
    """Return the host that an address chose, and whether it must be this machine."""
    if schema in HOSTED:
        return "", False
    chosen = getattr(service, "smtp_host", "") or service.host or ""
    return str(chosen), schema in PLAIN


def refuse_inside(host: tuple[str, bool]) -> None:
    """Refuse this machine and what only machines of one network talk to."""
    name, plain = host
    found = [ipaddress.ip_address(each) for each in addresses(name)] if name else []
    local = [each for each in found if each.is_loopback]
    if local and not settings.WEBHOOKS_ALLOW_LOOPBACK:
        raise invalid("Messages are not sent to this machine itself.")
    if plain and len(local) != max(len(found), 1):
        raise invalid("Use the encrypted form of this service, such as jsons://.")
    if any(each.is_link_local or each.is_multicast or each.is_unspecified for each in found):
        raise invalid("Messages are not sent to addresses of the network itself.")


def addresses(host: str) -> set[str]:
    """Look a host up; one that cannot be found now is found out about when sending."""
    try:
        found = socket.getaddrinfo(host.strip("[]"), None)
    except (OSError, UnicodeError):
        return set()
    return {plainly(str(each[4][0])) for each in found}


def plainly(address: str) -> str:
    """Write an address without its zone, and one of the old kind as such."""
    given = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(given, "ipv4_mapped", None)
    return str(mapped or given)


def label(service: Any, letter: Letter) -> None:
    """Give a message its key, in the way each service knows."""
    if hasattr(service, "payload_extras"):
        service.payload_extras["key"] = letter.key
    if hasattr(service, "dedup"):
        service.dedup, service.action = letter.thread, "map"
    if hasattr(service, "alias"):
        service.alias = letter.thread


def failure(result: AppriseResult) -> str:
    """Say what went wrong, without anything that a service answered or an address holds."""
    said = " ".join(entry.message for entry in result.logs())
    if code := CODE.search(said):
        return f"The service answered {code[1]}."
    if "onnection error" in said or "imeout" in said:
        return "The service could not be reached."
    return "The service did not take it."


def quieten() -> None:
    """Keep Apprise's own log to itself: it may quote addresses, and failures are recorded."""
    logging.getLogger("apprise").propagate = False
