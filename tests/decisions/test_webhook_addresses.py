"""Calls go to public addresses only, and to machines that somebody vouches for."""

from __future__ import annotations

import socket
import ssl
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from controllers.operations import webhooks
from controllers.operations.webhooks import Reply
from tests.decisions.listening import call, listening
from tests.rows import every_row

# Spellings of addresses that are not public, and of schemes and names that are none.
NEAR = [
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://0.0.0.0/",
    "https://localhost/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:a9fe:a9fe]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/",
    "https://192.168.0.1/",
    "https://172.16.0.1/",
    "https://100.64.0.1/",
    "https://[fd00::1]/",
    "https://[fe80::1]/",
    "https://224.0.0.1/",
]
WRONG = [
    "http://example.com/",
    "http://127.0.0.1/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://127.0.0.1/",
    "//example.com/",
    "example.com",
    "https://",
    "https://example.com:port/",
    "https://example.com:0/",
    "https://[::1/",
    "https://example.com/\x00",
    "https://exam\nple.com/",
    "https://somebody:secret@example.com/",
    "https://trusted.example@127.0.0.1/",
    "",
]


@pytest.fixture
def loopback(settings: Any) -> None:
    """Let calls go to this machine."""
    settings.WEBHOOKS_ALLOW_LOOPBACK = True


@every_row("url", NEAR)
def test_addresses_that_are_not_public_are_refused(url: str) -> None:
    reply = call(url)

    assert reply == Reply(None, False, True, "Its address is not a public one.")


@every_row("url", WRONG)
def test_addresses_that_are_none_are_refused(url: str) -> None:
    assert webhooks.objection(url)
    assert call(url)[:3] == (None, False, True)


@pytest.mark.usefixtures("loopback")
@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "http://example.com/", "http://localhost/", "ftp://127.0.0.1/"]
)
def test_the_switch_for_development_opens_this_machine_only(url: str) -> None:
    assert webhooks.objection(url) == "Its address must begin with https://."


@pytest.mark.parametrize("url", ["https://example.com/", "https://example.com:8443/hook?a=b"])
def test_a_public_address_is_fine(url: str) -> None:
    assert webhooks.objection(url) == ""


def test_a_name_that_leads_home_is_refused_where_it_leads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The address that was examined is the one that is connected to."""
    home = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: home)

    assert call("https://hooks.example/").detail == "Its address is not a public one."


@pytest.mark.usefixtures("loopback")
def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening("ok") as server, listening("ok") as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert call(server.url).ok

    assert (len(server.received), proxy.received) == (1, [])


@pytest.mark.usefixtures("loopback")
@pytest.mark.parametrize("label", ["x" * 64, "a..b"])
def test_a_name_that_cannot_be_one_is_not_reached(label: str) -> None:
    assert call(f"https://{label}.example/")[:3] == (None, False, True)


def certificate(folder: Path) -> ssl.SSLContext:
    """Make a certificate that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (folder / "both.pem").write_bytes(pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "both.pem")
    return context


@pytest.mark.usefixtures("loopback")
def test_a_machine_that_nobody_vouches_for_gets_nothing(tmp_path: Path) -> None:
    with listening("ok") as server:
        server.socket = certificate(tmp_path).wrap_socket(server.socket, server_side=True)
        port = server.server_address[1]
        reply = call(f"https://localhost:{port}/")

    assert reply == Reply(None, False, True, "Its certificate is not to be trusted.")
    assert server.received == []


@pytest.mark.usefixtures("loopback")
def test_a_line_that_never_becomes_safe_is_cut_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        reply = call(f"https://localhost:{silent.getsockname()[1]}/", seconds=0.5)

    assert reply[:3] == (None, False, True)
    assert time.monotonic() - began < 10
