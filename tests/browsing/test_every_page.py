"""Every page in every size, light and dark: readable by everybody, no wider than its window."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

import pytest
from django.urls import resolve

from controllers.web import urls

from .acting import Colleague
from .looking import LOOKS, Looks, faults_of, hold, managed, send
from .stage import Stage

pytestmark = [pytest.mark.browser, pytest.mark.sqlite, pytest.mark.timeout(1_200)]

# Answered with a redirect or a file, or only when something is sent.
NO_PAGES = {
    "approvals-csv",
    "audit-csv",
    "audit-verify",
    "channel-test",
    "controller-autonomy",
    "controllers-csv",
    "decide-many",
    "drill",
    "economics-csv",
    "end-sessions",
    "group-change",
    "group-delete",
    "group-member",
    "group-new",
    "inbox-read",
    "load-example",
    "machine-switch",
    "mfa_index",
    "overrides-csv",
    "people-invite",
    "person-active",
    "person-grant",
    "person-link",
    "person-revoke",
    "profile-deputies",
    "resources-csv",
}
AGENT = "/resources/agent/growth-optimizer"
KEEPER = "/controllers/agent-performance"
STOPPED = "/controllers/decision-tracker"
VERDICTS = ("approve", "reject", "override", "snooze", "pause", "change", "delegate")
FIXED = {
    "finding things": (
        "/",
        "/welcome",
        "/welcome/apply",
        "/search?q=growth",
        "/search?q=nothing-is-called-so",
        "/shortcuts",
        "/more",
        "/inbox",
        "/profile",
        "/profile/security",
        "/people",
        "/people/1",
        "/people/groups",
        "/resources/agent/nobody",
    ),
    "resources": (
        "/resources",
        "/resources?q=nothing-is-called-so",
        AGENT,
        *(
            f"{AGENT}?tab={tab}"
            for tab in ("spec", "conditions", "proposals", "relations", "audit")
        ),
        "/resources/domain/growth",
        "/resources/workflow/churn-response",
    ),
    "controllers": (
        "/controllers",
        KEEPER,
        f"{KEEPER}/run",
        f"{KEEPER}/mode",
        f"{KEEPER}/breaker",
        f"{KEEPER}/cycles/1",
        f"{KEEPER}/replay",
        STOPPED,
        f"{STOPPED}/breaker?do=reset",
    ),
    "approvals": (
        "/approvals",
        "/approvals?state=decided",
        "/approvals?q=nothing-is-called-so",
    ),
    "managing": (
        "/manage",
        "/manage/tokens",
        "/manage/tokens?state=all",
        "/manage/tokens?agent=nobody",
        "/manage/tokens/new?agent=growth-optimizer",
        "/manage/channels",
        "/manage/channels/new?name=pagerduty",
        "/manage/channels/unmap?name=pagerduty",
        "/manage/machines",
        "/manage/machines/new",
        "/manage/machines/rig/rotate",
        "/manage/policies",
        "/people/2",
        "/people/groups",
        "/people/groups/1",
        "/people/2/door?do=sign-out",
    ),
    "stopping": (
        "/overrides",
        "/overrides/new",
        "/overrides/new?kind=pause",
        "/overrides/new?kind=freeze",
        "/pause",
        "/resume",
        "/audit",
        "/audit?event=nothing.like-it",
        "/economics",
        "/economics?domain=nowhere",
    ),
}


class Made(NamedTuple):
    """Pages of what was put into the demo."""

    approvals: tuple[str, ...]
    stopping: tuple[str, ...]
    resources: tuple[str, ...]
    managing: tuple[str, ...]


@pytest.fixture(scope="module")
def made(demo: Stage, ines: Colleague) -> Made:
    """Decide, hold and stop something, so that there is something to see."""
    maya = Colleague(demo, "maya")
    rejected, approved = ines.throttle("reply-drafter", 0.6), ines.throttle("access-steward", 0.7)
    maya.answer(rejected, "reject", "Wait for the March budget.")
    maya.answer(approved, "approve", "Fine with me.")
    send(ines, f"{STOPPED}/breaker", do="trip", reason="It measures nonsense.")
    admin, about = Colleague(demo, "admin"), "Looks at every campaign."
    send(admin, "/people/groups/new", name="campaign-board", description=about)
    revoke = managed(admin)
    waiting, held = ines.throttle("audience-mapper"), f"/overrides/{hold(maya)}"
    trace = re.search(r"/audit/trace/[\w-]+", maya.client.get("/audit").text)
    assert trace
    cause = maya.read(rejected)["cause"]
    then = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Made(
        (
            *(f"/approvals/{number}" for number in (rejected, approved, waiting)),
            *(f"/approvals/{waiting}/decide?verdict={verdict}" for verdict in VERDICTS),
            f"/approvals/automatic?cause={cause}",
        ),
        (held, f"{held}/lift", f"{held}/renew", trace[0]),
        (f"{AGENT}?at={then}", "/resources/agent/campaign-writer"),
        (revoke,),
    )


def addresses(made: Made, group: str) -> tuple[str, ...]:
    """Return the pages of a group."""
    more: tuple[str, ...] = getattr(made, group, ())
    return FIXED[group] + more


def test_no_page_is_forgotten(made: Made) -> None:
    every = [each.partition("?")[0] for group in FIXED for each in addresses(made, group)]

    seen = {resolve(address).url_name for address in every}

    assert {each.name for each in urls.urlpatterns} - NO_PAGES == seen


@pytest.mark.parametrize(
    "looks",
    [
        pytest.param(LOOKS[:1], id="first"),
        pytest.param(LOOKS[1:], id="others", marks=pytest.mark.full),
    ],
)
@pytest.mark.parametrize("group", FIXED)
def test_nothing_is_wrong_with(stage: Stage, made: Made, group: str, looks: Looks) -> None:
    who = {"controllers": "ines", "managing": "admin"}.get(group, "maya")

    found = faults_of(stage.open(who, "/profile"), addresses(made, group), looks)

    assert not found, "\n".join(found)


def test_nothing_is_wrong_with_the_doors(stage: Stage) -> None:
    page = stage.browser.new_context(base_url=stage.product.base).new_page()
    stage.watch(page)

    found = faults_of(page, ["/sign-in/", stage.product.link("vera"), "/sign-in/9/used-already/"])
    page.context.close()

    assert not found, "\n".join(found)
