"""The matrix: every address and verb, asked by everybody, is answered as it is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from controllers.models import ApprovalGroup, Decision, Proposal
from resources.tables.models import AgentToken
from resources.usecases import tokens
from resources.usecases.access_rules import Rule
from resources.usecases.access_table import rules_by_name
from tests.rights import world
from tests.rights.world import HERE, KEEPER, THERE, Place, Principal
from tests.tiers import quick_first

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]


class Built(NamedTuple):
    """What there is in the domain that is asked about, and everybody who asks."""

    here: Place
    everybody: list[Principal]

    def one(self, name: str) -> Principal:
        """Return somebody by name."""
        return next(each for each in self.everybody if each.name == name)


@pytest.fixture(scope="module")
def built(django_db_setup: None, django_db_blocker: Any) -> Iterator[Built]:
    """Build the world once: whoever asks leaves everything as it was."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield Built(world.build()[HERE], [*world.people(), *world.agents()])
        transaction.set_rollback(True)


# Every address that is declared, and those of pages, of the API and of the admin.
DECLARED = rules_by_name()
API = [name for name in DECLARED if name.startswith("api") or name == "openapi"]
ADMIN = [name for name in DECLARED if name.startswith("admin")]
PAGES = sorted(set(DECLARED) - {*API, *ADMIN})
# Who has a part in a proposal, and what they do not say about it: that needs another pair of eyes.
# To stop, to change or to put off what is one's own needs none.
PARTS = ("proposer", "behind the agent", "editor")
APART: Mapping[str, tuple[str, ...]] = dict.fromkeys(("approve", "adopt"), PARTS)
# What their part alone lets them say, whatever their role.
BY_PART: Mapping[str, tuple[str, ...]] = {"withdraw": ("proposer", "behind the agent")}

JSON, MERGE = "application/json", "application/merge-patch+json"
WHY = "It has to be."
# What an answer means; a page refuses a stranger at the door, the API by a status.
STRANGERS = ("/sign-in/?", "/admin/login/")
# Addresses that are about nothing of a domain.
NOWHERE = frozenset(
    name
    for name in (*PAGES, *API)
    if name
    not in (
        *(
            "proposal",
            "decide",
            "resource",
            "hold",
            "hold-lift",
            "hold-renew",
            "trace",
            "hold-new",
        ),
        *("api-agent-record", "api-drift", "api-runs", "api-run", "api-run-cancel"),
        *("api-proposal", "api-answer", "api-hold", "api-lift", "api-renew", "api-resource"),
        *("api-status", "api-revisions", "api-revision", "api-conditions", "api-proposals"),
        *("api-holds", "api-apply", "api-observations", "make-automatic"),
        *(
            "people-invite",
            "person",
            "person-grant",
            "person-revoke",
            "person-link",
            "person-active",
            "person-door",
        ),
        *("token-new", "token-revoke", "machine-new", "machine-rotate", "machine-switch"),
    )
)
# Lists are everybody's; what they hold is narrowed, and shown elsewhere.
LISTS = frozenset({"api-proposals", "api-holds", "api-runs"})
# What the body names is not in the address: a form says so with a sentence, documents by a right.
UNSEEN = {
    ("hold-new", "GET"): "in",
    ("hold-new", "POST"): "in",
    ("api-apply", "POST"): "forbidden",
    ("people-invite", "POST"): "forbidden",
    ("api-resource", "PUT"): "forbidden",
    ("make-automatic", "GET"): "absent",
    ("token-new", "GET"): "in",
    ("token-new", "POST"): "in",
    ("machine-new", "GET"): "in",
    ("machine-new", "POST"): "forbidden",
}
# Each of many is answered by itself.
ONE_BY_ONE = frozenset({"api-observations", "decide-many", "api-decide-many"})
# There is nothing of that number: whoever gets in learns that, and nobody else.
# Whoever may, hears that no service or grant stands behind the name; nobody else hears that.
NOTHING_BEHIND = frozenset({"channel-test", "channel-unmap", "controller-autonomy"})
MADE_UP = frozenset(
    {
        *("api-admission", "api-redeem", "api-claim", "api-heartbeat", "api-progress"),
        *("api-result", "api-run-step", "api-findings", "api-cycle"),
        *("mfa_remove_webauthn", "mfa_deactivate_totp", "mfa_generate_recovery_codes"),
        "mfa_view_recovery_codes",
    }
)
# Whose it is decides, not only the scope: an agent pauses itself, and ends what it leads.
OWN_WORK = frozenset({("api-holds", "POST"), ("api-run-cancel", "POST"), ("api-proposal", "PUT")})


ENDS = ("api-progress", "api-result")
# A scraper's, a link's, a stream that does not end, the ways out, and the steps of signing in.
OTHER_DOORS = frozenset(
    {
        *("api/v1/", "api-watch", "metrics", "sign-in", "readyz", "logout", "account_logout"),
        *("mfa_authenticate", "mfa_login_webauthn", "provider", "openid_connect_callback"),
        # It says no to everybody.
        "account_inactive",
    }
)


def kwargs_of(name: str, here: Place) -> dict[str, Any]:
    """Return what an address about something of a domain names."""
    flow = {"name": f"{here.mark}-flow"}
    if name in ("proposal", "decide"):
        return {"key": here.proposal.pk}
    if name == "person" or name.startswith("person-"):
        return {"key": User.objects.get(username=f"{here.mark}-placer").pk}
    if name.startswith("hold") and name != "hold-new":
        return {"key": here.hold.pk}
    if name in ("api-runs", "api-run", "api-run-cancel", "api-run-step"):
        more = {"id": here.run.pk} if name != "api-runs" else {}
        return flow | more | ({"step": "a"} if name == "api-run-step" else {})
    if name in ("api-proposal", "api-answer"):
        return {"id": here.proposal.pk} | ({"answer": "approve"} if name == "api-answer" else {})
    if name in ("api-hold", "api-lift", "api-renew"):
        return {"id": here.hold.pk}
    if name in ("api-admission", "api-redeem", "api-claim", "api-heartbeat", *ENDS):
        return {"id": 999_999}
    return named(name, here)


def named(name: str, here: Place) -> dict[str, Any]:
    """Return the names in an address."""
    agent = {"name": here.agent.name}
    controllers = (
        *("controller-", "api-cycles", "api-rec", "api-reset", "api-heard", "api-autonomy"),
        *("api-replay", "api-controller-quality"),
    )
    if name in ("cycle", "api-cycle", "api-findings"):
        return {"name": KEEPER, "number": 1}
    if name in ("controller", "api-controller-record") or name.startswith(controllers):
        return {"name": KEEPER}
    if name in ("group", "group-change", "group-member", "group-delete"):
        usual = {"created_by": "system/ioa", "created_at": timezone.now()}
        return {"key": ApprovalGroup.objects.get_or_create(name="board", defaults=usual)[0].pk}
    others: dict[str, dict[str, Any]] = {
        "api-agent-record": agent,
        "token-revoke": {"key": here.token},
        **{each: {"name": here.machine} for each in ("machine-rotate", "machine-switch")},
        "api-list": {"kind": "agent"},
        "drill": {"name": "house-rules"},
        "api-drills": {"name": "house-rules"},
        "mfa_remove_webauthn": {"pk": 999_999},
        "api-revision": {"kind": "agent", **agent, "version": here.agent.resource_version},
        "trace": {"correlation": here.story},
    }
    some = ("resource", "api-drift", "api-resource", "api-status", "api-revisions")
    if name in (*some, "api-conditions"):
        return {"kind": "agent", **agent}
    return others.get(name, {})


def document(here: Place) -> dict[str, Any]:
    """Return the declaration of the agent of a domain, with another purpose."""
    row = here.agent
    spec = row.spec | {"purpose": "Another."}
    metadata = {"name": row.name, **row.metadata}
    return {"apiVersion": "ioa.dev/v0.2", "kind": "Agent", "metadata": metadata, "spec": spec}


def tag_of(here: Place) -> str:
    """Return what somebody saw of a proposal."""
    return f"{here.proposal.revision}:{here.proposal.action_digest}"


def sent(name: str, verb: str, here: Place) -> dict[str, Any]:
    """Return what a request carries, so that it gets as far as its caller may."""
    row, tag = here.proposal, tag_of(here)
    hold = {"kind": "pause", "scope": "resource", "resource": str(here.agent), "reason": WHY}
    ends = {"endsAt": (timezone.now() + timedelta(days=1)).isoformat()}
    next_week = f"{timezone.now() + timedelta(days=7):%Y-%m-%d}"
    factor = {"agent": here.agent.name, "factor": 0.7}
    plan = [{"operation": "throttle", "parameters": factor}]
    forms: dict[str, dict[str, Any]] = {
        "decide": {"verdict": "approve", "tag": tag, "reason": WHY},
        "decide-many": {"answer": "approve", "sel": f"{row.pk}:{tag}"},
        "make-automatic": {"cause": row.cause, "reason": WHY},
        "hold-new": {"kind": "pause", "on": str(here.agent), "reason": WHY, "lasts": "1h"},
        "hold-lift": {"reason": WHY},
        "hold-renew": {"reason": WHY, "lasts": "8h"},
        "person-grant": {"role": "viewer", "domain": here.mark},
        "person-revoke": {"role": "operator", "domain": here.mark},
        "people-invite": {"role": "viewer", "domain": here.mark, "name": "New", "username": "new"},
        "group-new": {"name": "guild"},
        "group-change": {"name": "board", "description": WHY},
        "group-member": {"person": User.objects.get(username="whole-viewer").pk, "do": "add"},
        "token-new": {"agent": here.agent.name, "scopes": "status:write", "days": "1"},
        "channel-new": {"name": "ops"},
        "machine-new": {
            "name": "rig",
            "url": "https://rig.example.com/",
            "operations": "restart",
            "domain": here.mark,
        },
        "pause": {"reason": WHY},
        "resume": {"reason": WHY},
        "controller-run": {"reason": WHY},
        "controller-mode": {"mode": "observe", "reason": WHY},
        "controller-breaker": {"reason": WHY},
        "profile-deputies": {"deputy": "whole-viewer", "from": "", "to": next_week},
    }
    bodies: dict[str, Any] = {
        "api-answer": {"reason": WHY},
        "api-holds": hold | ends,
        "api-lift": {"reason": WHY},
        "api-renew": {"reason": WHY, **ends},
        "api-proposals": {"resource": str(here.agent), "actions": plan, "why": WHY},
        "api-proposal": {"actions": plan, "why": WHY},
        "api-apply": document(here),
        "api-resource": document(here) if verb == "PUT" else {"spec": {"purpose": "Another."}},
        "api-status": {"phase": "Running"},
        "api-observations": {"items": [{"kind": "Agent", "name": here.agent.name, "status": {}}]},
        "api-decide-many": {"answer": "approve", "items": []},
        "api-runs": {},
        "api-run-cancel": {"reason": WHY},
    }
    if verb == "GET":
        return {"data": {"cause": row.cause}} if name == "make-automatic" else {}
    if not name.startswith("api-"):
        return {"data": forms.get(name, {})}
    kind = MERGE if verb == "PATCH" else JSON
    # Conditions of the API: what was seen of a proposal; whatever version a resource has.
    seen = {"api-answer": f'"{tag}"', "api-resource": "*"}.get(name)
    asked_for = {"HTTP_IF_MATCH": seen} if seen else {}
    return {"data": bodies.get(name, {}), "content_type": kind, **asked_for}


def expected(name: str, verb: str, rule: Rule, who: Principal) -> str:
    """Return how an address answers somebody, by what it declares alone."""
    if who.token:
        return for_token(name, verb, rule, who)
    if rule.who == "anybody":
        return "in"
    if who.name == "anonymous":
        return "out"
    return for_person(name, verb, rule, who)


def for_token(name: str, verb: str, rule: Rule, who: Principal) -> str:
    """Return how an address answers the token of an agent."""
    if rule.bearer == "any":
        return "in"
    if not name.startswith("api"):
        return "out"
    if not rule.bearer or rule.bearer not in tokens.SCOPES:
        return "forbidden"
    if (name, verb) in OWN_WORK:
        mine = name == "api-proposal" and who.place == HERE
        return "in or forbidden" if mine else "refused"
    if name in MADE_UP:
        return "in or absent"
    near = name in NOWHERE or name in ONE_BY_ONE or who.place == HERE
    return "in" if near or (name in LISTS and verb == "GET") else "refused"


def for_person(name: str, verb: str, rule: Rule, who: Principal) -> str:
    """Return how an address answers somebody who is signed in."""
    if rule.who != "signed in" and not who.role:
        return "absent"
    if rule.who == "whole" and who.place != "":
        return "absent"
    if not rule.people:
        return "refused"
    about_nothing = name in NOWHERE or (name in LISTS and verb == "GET")
    if not about_nothing and who.place not in (HERE, ""):
        return elsewhere(name, verb, rule, who)
    if name in MADE_UP:
        return "in or absent"
    if (name, verb) == ("api-proposal", "PUT"):
        return "in or forbidden"
    if not rule.roles:
        return "in"
    return by_role(name, rule, who)


def by_role(name: str, rule: Rule, who: Principal) -> str:
    """Return how an address that asks for roles answers somebody who sees what it is about."""
    reached = {"anywhere": True, "organisation": who.place == "", "there": True}[rule.where]
    if who.role not in rule.roles or not reached:
        return "forbidden"
    return "in or absent" if name in NOTHING_BEHIND else "in"


def elsewhere(name: str, verb: str, rule: Rule, who: Principal) -> str:
    """Return how an address answers somebody about what they do not see."""
    if rule.roles and who.role not in rule.roles:
        # Who has the role nowhere may hear that, whatever the address names.
        return "refused" if (name, verb) != ("hold-new", "POST") else "in"
    return UNSEEN.get((name, verb), "in" if name in ONE_BY_ONE else "absent")


def answered(answer: Any) -> str:
    """Return what an answer means."""
    status = answer.status_code
    if status in (301, 302) and answer["Location"].startswith(STRANGERS):
        return "out"
    assert status < 500, (status, answer.content[:300])
    return {401: "out", 403: "forbidden", 404: "absent"}.get(status, "in")


def fits(seen: str, wanted: str) -> bool:
    """Tell whether an answer is the one that was declared."""
    some = {"refused": ("forbidden", "absent"), "in or absent": ("in", "absent")}
    some["in or forbidden"] = ("in", "forbidden")
    return seen in some.get(wanted, (wanted,))


def asked(who: Principal, verb: str, address: str, **given: Any) -> str:
    """Ask, and leave everything as it was."""
    with transaction.atomic():
        answer = who.ask(verb, address, **given)
        if answer.streaming:
            answer.close()
        transaction.set_rollback(True)
    return answered(answer)


def cells(names: Any, here: Place) -> Iterator[tuple[str, str, Rule, str, dict[str, Any]]]:
    """Yield every address with every verb that it knows."""
    for name in names:
        if name in OTHER_DOORS:
            continue
        address = reverse(name, kwargs=kwargs_of(name, here))
        for verb, rule in DECLARED[name].items():
            yield name, verb, rule, address, sent(name, verb, here)


def askers(name: str, verb: str, rule: Rule, everybody: list[Principal]) -> list[Principal]:
    """Return who is asked: pages that every role reads are dear, and the same for most."""
    if name.startswith("api") or verb != "GET" or rule.roles:
        return everybody
    few = ("anonymous", "without a role", f"{HERE}-viewer", f"{THERE}-auditor", "whole-auditor")
    return [each for each in everybody if each.name in few or each.token]


def wrong(names: Any, built: Built) -> tuple[int, list[str]]:
    """Ask everybody everything; return how much that was, and what was answered differently."""
    count, found = 0, []
    for name, verb, rule, address, given in cells(names, built.here):
        for who in askers(name, verb, rule, built.everybody):
            seen = asked(who, verb, address, **given)
            wanted = expected(name, verb, rule, who)
            count += 1
            if not fits(seen, wanted):
                found.append(f"{verb} {name} as {who.name}: {seen}, not {wanted}")
    return count, found


SHARES = 10
# As many cells as there have to be, in all.
LEAST = {"pages": 550, "api": 1_100, "admin": 450}


@pytest.mark.parametrize("part", quick_first(range(SHARES), 2))
def test_every_page_answers_everybody_as_it_declares(part: int, built: Built) -> None:
    count, found = wrong(PAGES[part::SHARES], built)

    assert not found, "\n".join(found)
    assert count >= LEAST["pages"] / SHARES / 3


@pytest.mark.parametrize("part", quick_first(range(SHARES), 2))
def test_every_endpoint_answers_everybody_as_it_declares(part: int, built: Built) -> None:
    names = API[part::SHARES]
    count, found = wrong(names, built)

    assert not found, "\n".join(found)
    # The description is the same for everybody: a few are asked.
    assert count >= asked_of(names, built)


def asked_of(names: list[str], built: Built) -> int:
    """Return how often endpoints are asked: everybody is, with every verb."""
    asked = [each for each in names if each not in OTHER_DOORS and each.startswith("api")]
    return sum(len(DECLARED[each]) for each in asked) * len(built.everybody)


def test_there_are_as_many_cells_as_there_have_to_be(built: Built) -> None:
    assert asked_of(API, built) >= LEAST["api"]


def admin_address(name: str, here: Place) -> str:
    """Return an address of the admin about something of a domain."""
    action = name.rpartition("_")[2]
    if name in ("admin:index", "admin:jsi18n") or action in ("changelist", "add", "check"):
        return reverse(name)
    key = here.agent.pk if "_agent_" in name else 999_999
    if action == "revision":
        return reverse(name, args=[key, here.agent.resource_version])
    return reverse(name, args=["x" if action == "revoke" else key])


def admin_names() -> list[str]:
    """Return the addresses of the admin that are asked for: one kind stands for all of them."""
    about_rows = ("admin:resources_", "admin:controllers_")
    kinds = [name for name in ADMIN if name.startswith(about_rows) and DECLARED[name]]
    others = [name for name in kinds if "resources_" not in name or "_agent" in name]
    more = ("ledgerevent", "checkpoint", "resourcerevision")
    others += [name for name in kinds if any(f"_{each}_" in name for each in more)]
    return ["admin:index", *others]


def in_admin(name: str, rule: Rule, who: Principal) -> str:
    """Return how the admin answers somebody: its door is open to those who work there."""
    if who.token or who.role not in world.STAFF:
        return "kept out"
    if "_agent_" in name and who.place == THERE and not name.endswith(("list", "add", "check")):
        return "kept out"
    reached = rule.where != "organisation" or who.place == ""
    if who.role in rule.roles and reached:
        return "in" if "_agent_" in name or name.endswith(("list", "index", "add")) else "any"
    return "kept out"


@pytest.mark.full
def test_the_admin_answers_everybody_as_it_declares(built: Built) -> None:
    here, everybody = built
    count, found = 0, []
    for name in admin_names():
        for verb, rule in DECLARED[name].items():
            for who in everybody:
                seen, wanted = (
                    asked(who, verb, admin_address(name, here)),
                    in_admin(name, rule, who),
                )
                count += 1
                if wanted != "any" and (seen == "in") != (wanted == "in"):
                    found.append(f"{verb} {name} as {who.name}: {seen}, not {wanted}")

    assert not found, "\n".join(found)
    assert count >= LEAST["admin"]
    assert sum(LEAST.values()) >= 2_000


CODES = {"proposer": "Proposer", "behind the agent": "BehindAgent", "editor": "Editor"}
DECIDER = f"{HERE}-approver"


def give_part(part: str, here: Place, name: str) -> None:
    """Let somebody have a part in the proposal of a domain."""
    row = Proposal.objects.filter(pk=here.proposal.pk)
    if part == "proposer":
        row.update(proposer=f"person/{name}")
    elif part == "behind the agent":
        row.update(proposer=f"agent/{here.agent.name}", interested=[name])
        AgentToken.objects.filter(agent=here.agent).update(created_by=f"person/{name}")
    elif part == "editor":
        Decision.objects.create(
            proposal=here.proposal,
            # An earlier one: the plan as it stands is what they made of it.
            revision=0,
            person=User.objects.get(username=name),
            actor=f"person/{name}",
            answer="change",
            counts=False,
            reason=WHY,
            shown="d" * 64,
            at=timezone.now(),
        )


def bodies(here: Place) -> dict[str, dict[str, Any]]:
    """Return what each answer carries to the API."""
    until = {"until": (timezone.now() + timedelta(days=1)).isoformat()}
    plan = [
        {**each, "parameters": {**each["parameters"], "factor": 0.7}} for each in actions(here)
    ]
    instead = {"path": "spec.tokenBudget.maxDaily", "value": 900, **until}
    return {
        "approve": {},
        "adopt": {},
        "reject": {},
        "change": {"actions": plan},
        "override": instead,
        "accept": until,
        "snooze": until,
        "request-changes": {},
        "withdraw": {},
        "extend": {"until": (timezone.now() + timedelta(days=9)).isoformat()},
    }


def actions(here: Place) -> list[dict[str, Any]]:
    """Return the plan of a proposal as an answer carries it."""
    return [
        {"sequence": each["sequence"], "parameters": each["parameters"]}
        for each in here.proposal.actions
    ]


@pytest.mark.parametrize("part", quick_first(["none", *PARTS]))
def test_who_has_a_part_in_a_proposal_answers_it_as_declared(part: str, built: Built) -> None:
    here, who, found = built.here, built.one(DECIDER), []
    give_part(part, here, DECIDER)
    for answer, body in bodies(here).items():
        apart = part in APART.get(answer, ())
        # Approvers as such do not take back what others proposed.
        lacking = answer in BY_PART and part not in BY_PART[answer]
        kwargs = {"id": here.proposal.pk, "answer": answer}
        with transaction.atomic():
            said = who.ask(
                "POST",
                reverse("api-answer", kwargs=kwargs),
                data={"reason": WHY, **body},
                content_type=JSON,
                HTTP_IF_MATCH=f'"{tag_of(here)}"',
            )
            transaction.set_rollback(True)
        form = {"verdict": answer, "tag": tag_of(here), "reason": WHY}
        page = asked(who, "POST", reverse("decide", kwargs={"key": here.proposal.pk}), data=form)
        seen = (answered(said), page, said.json().get("code", ""))
        code = CODES[part] if apart else "NotProposer" if lacking else ""
        wanted = ("forbidden", "forbidden", code) if code else ("in", "in", seen[2])
        if seen != wanted:
            found.append(f"{answer} with the part {part}: {seen}, not {wanted}")

    assert not found, "\n".join(found)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_gives_no_role(part: str, built: Built) -> None:
    """Whoever has a part and no role to decide says nothing but that it is taken back."""
    name = f"{HERE}-viewer"
    give_part(part, built.here, name)
    for answer, body in bodies(built.here).items():
        kwargs = {"id": built.here.proposal.pk, "answer": answer}
        given = {"data": {"reason": WHY, **body}, "content_type": JSON}
        tag = f'"{tag_of(built.here)}"'
        address = reverse("api-answer", kwargs=kwargs)
        seen = asked(built.one(name), "POST", address, **given, HTTP_IF_MATCH=tag)
        own = part in BY_PART.get(answer, ())
        assert seen == ("in" if own else "forbidden"), answer
