"""Who may do what at each address: one table, asked before every view and held against all routes.

An address that is not named here is not there. What a use case asks besides (who proposed it, how
grave it is, whose work it is) is its own; this says who gets as far as asking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from django.urls import ResolverMatch

from ioa_site.rules import (
    ADMINISTER,
    DECIDE,
    LIFT,
    OPEN,
    OPERATE,
    OVERSEE,
    OWN,
    SEEN,
    STOP,
    TAKEN,
    WHOLE,
    Rule,
    Rules,
    agents,
    api,
    at,
    page,
    rules,
)

PAGES: Mapping[str, Rules] = {
    "start": page(OWN),
    "welcome": page(),
    "load-example": page(None, at("organisation", *OPERATE)),
    "apply-documents": page(at("anywhere", *OPERATE), at("anywhere", *OPERATE)),
    "approvals": page(),
    "approvals-csv": page(TAKEN),
    "decide-many": page(None, SEEN),
    "make-automatic": page(SEEN, at("organisation", *OPERATE)),
    "proposal": page(),
    "decide": page(SEEN, at("there", *DECIDE)),
    "resources": page(),
    "resources-csv": page(TAKEN),
    "resource": page(),
    "controllers": page(),
    "controllers-csv": page(TAKEN),
    "controller": page(),
    "controller-run": page(WHOLE, Rule("whole", OPERATE, "organisation")),
    "controller-mode": page(SEEN, at("organisation", *OPERATE)),
    "controller-breaker": page(SEEN, at("organisation", *OPERATE)),
    "controller-autonomy": page(None, at("organisation", *STOP)),
    "controller-replay": page(),
    "cycle": page(),
    "drill": page(None, at("organisation", *OPERATE)),
    "overrides": page(),
    "overrides-csv": page(TAKEN),
    "hold-new": page(SEEN, at("there", *STOP)),
    "hold": page(),
    "hold-lift": page(SEEN, at("there", *LIFT)),
    "hold-renew": page(SEEN, at("there", *STOP)),
    "pause": page(SEEN, at("organisation", *STOP)),
    # Each pause that it lifts asks for the role where it stands.
    "resume": page(SEEN, SEEN),
    "economics": page(),
    "economics-csv": page(TAKEN),
    "audit": page(),
    "audit-csv": page(TAKEN),
    "audit-verify": page(None, WHOLE),
    "trace": page(),
    "search": page(),
    "shortcuts": page(OWN),
    "more": page(OWN),
    "inbox": page(),
    "inbox-read": page(None, SEEN),
    "people": page(),
    "people-invite": page(None, at("there", *ADMINISTER)),
    "groups": page(),
    "group-new": page(None, at("organisation", *ADMINISTER)),
    "group": page(),
    "group-change": page(None, at("organisation", *ADMINISTER)),
    "group-member": page(None, at("organisation", *ADMINISTER)),
    "group-delete": page(None, at("organisation", *ADMINISTER)),
    "person": page(),
    "person-grant": page(None, at("there", *ADMINISTER)),
    # Anybody may also give up a role of their own.
    "person-revoke": page(None, at("there", *ADMINISTER)),
    "person-link": page(None, at("there", *ADMINISTER)),
    "person-active": page(None, at("there", *ADMINISTER)),
    "person-door": page(at("organisation", *ADMINISTER), at("organisation", *ADMINISTER)),
    "manage": page(at("anywhere", *OVERSEE)),
    "tokens": page(at("anywhere", *OVERSEE)),
    "token-new": page(at("anywhere", *ADMINISTER), at("there", *ADMINISTER)),
    "token-revoke": page(at("there", *ADMINISTER), at("there", *ADMINISTER)),
    "channels": page(at("organisation", *OVERSEE)),
    "channel-new": page(at("organisation", *ADMINISTER), at("organisation", *ADMINISTER)),
    "channel-unmap": page(at("organisation", *ADMINISTER), at("organisation", *ADMINISTER)),
    "channel-test": page(None, at("organisation", *ADMINISTER)),
    "machines": page(at("anywhere", *OVERSEE)),
    "machine-new": page(at("anywhere", *ADMINISTER), at("there", *ADMINISTER)),
    "machine-rotate": page(at("there", *ADMINISTER), at("there", *ADMINISTER)),
    "machine-switch": page(None, at("there", *ADMINISTER)),
    "policies": page(),
    "profile": page(OWN, OWN),
    "profile-deputies": page(None, Rule("signed in", DECIDE, "anywhere")),
    "live-poll": page(OWN),
    "login": page(OPEN, OPEN),
    "sign-in": page(OPEN, OPEN),
    "logout": page(None, OWN),
    "account_login": page(OPEN, OPEN),
    "account_logout": page(None, OWN),
    "account_inactive": page(OPEN),
    "mfa_authenticate": page(OPEN, OPEN),
    "mfa_login_webauthn": page(OPEN, OPEN),
    "provider": page(None, OPEN),
    "openid_connect_callback": page(OPEN),
    "csp-reports": page(None, OPEN),
    **dict.fromkeys(
        (
            *("account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn"),
            *("account_change_password", "account_set_password"),
            *("mfa_activate_totp", "mfa_deactivate_totp", "mfa_add_webauthn"),
            *("mfa_remove_webauthn", "mfa_generate_recovery_codes"),
        ),
        page(OWN, OWN),
    ),
    "security": page(OWN),
    "mfa_index": page(OWN),
    "mfa_view_recovery_codes": page(OWN),
    "end-sessions": page(None, OWN),
    "healthz": page(OPEN),
    "readyz": page(OPEN),
    "metrics": page(OPEN),
}

API: Mapping[str, Rules] = {
    "api-reconcile": rules(POST=at("organisation", *OPERATE)),
    "api-reset-breaker": rules(POST=at("organisation", *OPERATE)),
    "api-cycles": api(POST=agents("cycles:write")),
    "api-cycle": api(PATCH=agents("cycles:write")),
    "api-findings": rules(POST=agents("cycles:write")),
    "api-heard": rules(POST=agents("cycles:write")),
    "api-controller-record": api(),
    "api-controller-quality": api(),
    "api-own-quality": rules(GET=OWN),
    "api-everybodys-quality": rules(GET=at("organisation", *ADMINISTER)),
    "api-autonomy": api(),
    "api-replay": rules(POST=SEEN),
    "api-drills": api(POST=at("organisation", *OPERATE)),
    "api-agent-record": api(),
    "api-drift": api(),
    "api-actions": api(),
    "api-claim": rules(POST=agents("actions:write")),
    "api-heartbeat": rules(POST=agents("actions:write")),
    "api-progress": rules(POST=agents("actions:write")),
    "api-result": rules(POST=agents("actions:write")),
    "api-alerts": api(),
    "api-telemetry": api(POST=agents("telemetry:write")),
    "api-steps": rules(GET=agents("resources:read")),
    "api-runs": api(POST=Rule(roles=OPERATE, bearer="runs:write")),
    "api-run": api(),
    "api-run-cancel": rules(POST=Rule(roles=STOP, bearer="runs:write")),
    "api-run-step": rules(POST=agents("runs:write")),
    "api-proposals": api(POST=Rule(roles=OPERATE, bearer="proposals:write")),
    "api-causes": api(),
    "api-decide-many": rules(POST=SEEN),
    # Only its proposer, whoever that is.
    "api-proposal": api(PUT=Rule(bearer="proposals:write")),
    "api-answer": rules(POST=at("there", *DECIDE)),
    "api-holds": api(POST=Rule(roles=STOP, bearer="status:write")),
    "api-hold": api(),
    "api-lift": rules(POST=at("there", *LIFT)),
    "api-renew": rules(POST=at("there", *STOP)),
    "api-admissions": api("admission:ask", POST=agents("admission:ask")),
    "api-admission": api("admission:ask"),
    "api-redeem": rules(POST=agents("admission:ask")),
    "api-usage": api(POST=agents("usage:write")),
    "api-economics": api(),
    "api-list": api(),
    "api-resource": api(
        PUT=at("there", *OPERATE), PATCH=at("there", *OPERATE), DELETE=at("there", *ADMINISTER)
    ),
    "api-status": api(
        PUT=Rule(roles=OPERATE, bearer="status:write"),
        PATCH=Rule(roles=OPERATE, bearer="status:write"),
    ),
    "api-revisions": api(),
    "api-revision": api(),
    "api-conditions": api(),
    "api-apply": rules(POST=at("there", *OPERATE)),
    "api-observations": rules(POST=Rule(roles=OPERATE, bearer="status:write")),
    "api-watch": api(),
    "api-events": api("events:read"),
    "api-verify": rules(GET=WHOLE),
    "openapi": rules(GET=OPEN),
    "api-docs": rules(GET=OPEN),
    # Whatever else begins like the API.
    "api/v1/": rules(GET=OPEN, POST=OPEN, PUT=OPEN, PATCH=OPEN, DELETE=OPEN),
}

# Who has a part in a proposal, and what they do not say about it: that needs another pair of eyes.
# To stop, to change or to put off what is one's own needs none.
PARTS = ("proposer", "behind the agent", "editor")
APART: Mapping[str, tuple[str, ...]] = dict.fromkeys(("approve", "adopt"), PARTS)
# What their part alone lets them say, whatever their role.
BY_PART: Mapping[str, tuple[str, ...]] = {"withdraw": ("proposer", "behind the agent")}

INSIDE = at("anywhere", *OPERATE, "auditor")
# The pages of the admin about one kind of rows, by what they do.
KIND: Mapping[str, Rules] = {
    "changelist": page(INSIDE),
    "add": page(at("anywhere", *OPERATE), at("anywhere", *OPERATE)),
    "check": page(None, at("anywhere", *OPERATE)),
    "check_one": page(None, at("there", *OPERATE)),
    "change": page(INSIDE, at("there", *OPERATE)),
    "history": page(INSIDE),
    "revision": page(INSIDE),
    "delete": page(at("there", *ADMINISTER), at("there", *ADMINISTER)),
}
NEVER: Rules = {}
REVISION: Mapping[str, Rules] = {
    **dict.fromkeys(("changelist", "change", "history"), page(INSIDE)),
    **dict.fromkeys(("add", "delete"), NEVER),
}
RECORD: Mapping[str, Rules] = {
    "changelist": page(at("anywhere", *OVERSEE)),
    "change": page(at("anywhere", *OVERSEE)),
    "history": page(at("anywhere", *OVERSEE)),
    "add": NEVER,
    "delete": NEVER,
}
OVERSEEN = {
    **RECORD,
    **dict.fromkeys(("changelist", "change", "history"), page(at("organisation", *OVERSEE))),
}
ADMIN: Mapping[str, Rules] = {
    "admin:index": page(INSIDE),
    "admin:app_list": page(INSIDE),
    "admin:jsi18n": page(INSIDE),
    "admin:autocomplete": page(INSIDE),
    "admin:view_on_site": page(INSIDE),
    "admin:password_change": page(INSIDE, INSIDE),
    "admin:password_change_done": page(INSIDE),
    "admin:logout": page(None, OWN),
    "admin:login": page(OPEN, OPEN),
    "admin:resources_agenttoken_add": page(
        at("anywhere", *ADMINISTER), at("anywhere", *ADMINISTER)
    ),
    "admin:resources_agenttoken_revoke": page(
        at("anywhere", *ADMINISTER), at("there", *ADMINISTER)
    ),
    "admin/login/": page(OPEN, OPEN),
    "admin:": page(INSIDE),
}
RECORDS = ("ledgerevent", "checkpoint", "agenttoken")
OVERSEEN_ROWS = ("channel", "delivery", "proposal", "hold", "grant", "price")


def kinds_of_the_admin() -> Iterator[tuple[str, Rules]]:
    """Yield the rules of the pages that the admin makes for every kind of rows."""
    from resources.models import PAGE_MODELS

    tables = {
        **{f"resources_{name.lower()}": KIND for name in PAGE_MODELS},
        "resources_resourcerevision": REVISION,
        **{f"resources_{name}": RECORD for name in RECORDS},
        **{f"controllers_{name}": OVERSEEN for name in OVERSEEN_ROWS},
    }
    for name, table in tables.items():
        for action, found in table.items():
            yield f"admin:{name}_{action}", found


@cache
def declared() -> Mapping[str, Rules]:
    """Return the rules of every address by its name."""
    return {**dict(kinds_of_the_admin()), **PAGES, **API, **ADMIN}


def name_of(match: ResolverMatch) -> str:
    """Return the name of an address; one without is called by how it is written."""
    if match.url_name:
        return match.view_name
    return "admin:" if match.namespaces else match.route


def rule_for(match: ResolverMatch, method: str) -> Rule | None:
    """Return the rule of an address and a verb; nothing when none was declared."""
    return declared().get(name_of(match), {}).get("GET" if method == "HEAD" else method)
