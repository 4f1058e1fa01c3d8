"""The variables of the environment: what each sets, and what is so without it."""

from __future__ import annotations

from typing import NamedTuple


class Variable(NamedTuple):
    """One variable, told to whoever sets it."""

    name: str
    sets: str
    without: str


ALL = (
    Variable(
        "DATABASE_URL",
        "`postgres://user:password@host/name` or `sqlite:///path`",
        "SQLite in the data folder",
    ),
    Variable(
        "REDIS_URL",
        "`redis://host:6379/0`: rings between processes",
        "everybody looks once a second",
    ),
    Variable(
        "IOA_DATA_DIR",
        "the folder of SQLite, keys, copies of checkpoints and `incarnation`",
        "`var/` of a clone; of a package `$XDG_DATA_HOME/ioa-control`, else "
        "`~/.local/share/ioa-control`, on macOS `~/Library/Application Support/ioa-control`",
    ),
    Variable(
        "IOA_SECRET_KEY",
        "signs sessions, links and checkpoints; at least 32 characters",
        "made once, kept in the data folder",
    ),
    Variable(
        "IOA_SECRETS_KEY",
        "encrypts secrets of others; several, separated by commas, while it changes",
        "made once, kept in the data folder",
    ),
    Variable(
        "IOA_BASE_URL",
        "the address people use; with `https:` cookies are secure",
        "`http://127.0.0.1:8000`",
    ),
    Variable(
        "IOA_ALLOWED_HOSTS",
        "other names the site answers to, separated by commas",
        "this machine",
    ),
    Variable(
        "IOA_INCARNATION",
        "a UUID that names the database where no disk lasts; "
        "[set a new one with each restore](../running.md#back-up-and-restore)",
        "the file `incarnation` alone",
    ),
    Variable(
        "IOA_METRICS_TOKEN",
        "what scrapers send as `Authorization: Bearer …`: [metrics](../metrics.md)",
        "only this machine may scrape",
    ),
    Variable("IOA_LOG_FORMAT", "`text` or `json`", "`text`"),
    Variable("IOA_API_RATE", "calls a second of each token, for each sort of call", "20"),
    Variable(
        "IOA_SESSION_IDLE",
        "minutes without use after which a session ends; each ends after 12 hours",
        "30",
    ),
    Variable(
        "IOA_REQUIRE_SECOND_FACTOR",
        "approvers and administrators must have an app or a passkey",
        "off; their page asks them to",
    ),
    Variable(
        "IOA_OIDC_ISSUER",
        "the [identity provider](../running.md#sign-in-by-an-identity-provider)",
        "none",
    ),
    Variable("IOA_OIDC_CLIENT_ID", "who the product is to it", "none"),
    Variable("IOA_OIDC_CLIENT_SECRET", "what it proves that with", "none"),
    Variable("IOA_OIDC_GROUPS", "what its groups give", "nothing"),
    Variable("IOA_OIDC_GROUPS_CLAIM", "the claim that lists them", "`groups`"),
    Variable("IOA_OIDC_NAME", "what the button calls it", "`single sign-on`"),
    Variable(
        "IOA_WEBHOOKS_ALLOW_LOOPBACK", "lets calls go to this machine; for development", "off"
    ),
    Variable("IOA_DEBUG", "shows tracebacks; never where others see them", "off"),
    Variable("IOA_TOKEN", "the agent's token that `ioa mcp` uses", "none"),
    Variable("IOA_VENV", "where `./ioa` keeps its Python environment", "`.venv`"),
    Variable("IOA_CHROMIUM", "the browser of the tests", "the one that is found"),
    Variable("IOA_FAILPOINT", "lets a worker die at a named place; for tests", "nothing happens"),
    Variable(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "where spans go, with the extra `otel`: [traces](../metrics.md)",
        "nowhere",
    ),
)
