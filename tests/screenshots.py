"""Pictures of every page for the documentation: `python -m tests.screenshots [folder]`.

`--only economics` takes some of them again, by their names.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, expect

from tests.browser import launch
from tests.browsing.acting import PATIENCE, Colleague
from tests.browsing.looking import hold, managed, send
from tests.browsing.stage import Stage, staged

FOLDER = Path(__file__).resolve().parent.parent / "docs/screenshots"
SIZES: dict[str, ViewportSize] = {
    "wide": {"width": 1440, "height": 900},
    "phone": {"width": 390, "height": 844},
}
LOOKS = {"": ("wide", False), "-dark": ("wide", True), "-phone": ("phone", False)}
QUALITY = 72
AGENT = "/resources/agent/growth-optimizer"
KEEPER = "/controllers/agent-performance"
PAGES = {
    "overview": "/",
    "welcome": "/welcome",
    "approvals": "/approvals",
    "proposal": "/approvals/1",
    "reject": "/approvals/1/decide?verdict=reject",
    "resources": "/resources",
    "resource": AGENT,
    "resource-spec": f"{AGENT}?tab=spec",
    "resource-relations": f"{AGENT}?tab=relations",
    "controllers": "/controllers",
    "controller": KEEPER,
    "cycle": f"{KEEPER}/cycles/1",
    "overrides": "/overrides",
    "pause": "/pause",
    "economics": "/economics",
    "audit": "/audit",
    "search": "/search?q=growth",
    "shortcuts": "/shortcuts",
    "inbox": "/inbox",
    "profile": "/profile",
}
# Who looks after the product sees these.
MANAGED = {
    "manage": "/manage",
    "tokens": "/manage/tokens",
    "token-new": "/manage/tokens/new?agent=growth-optimizer",
    "channels": "/manage/channels",
    "machines": "/manage/machines",
    "policies": "/manage/policies",
    "people": "/people",
    "groups": "/people/groups",
    "person": "/people/2",
    "security": "/profile/security",
}


def prepare(stage: Stage) -> Iterator[tuple[str, str]]:
    """Decide, hold and stop something; yield the pages that has."""
    ines, maya = Colleague(stage, "ines"), Colleague(stage, "maya")
    rejected, approved = ines.throttle("reply-drafter", 0.6), ines.throttle("access-steward", 0.7)
    maya.answer(rejected, "reject", "Wait for the March budget.")
    maya.answer(approved, "approve", "Fine with me.")
    send(ines, "/controllers/decision-tracker/breaker", do="trip", reason="It measures nonsense.")
    held = hold(maya)
    maya.pause("agent/deploy-warden", "Release freeze until Thursday.")
    cycle = ines.client.get("/api/v1/controllers/agent-performance/cycles/1").json()
    yield "hold", f"/overrides/{held}"
    yield "lift", f"/overrides/{held}/lift"
    yield "decided", f"/approvals/{rejected}"
    yield "trace", f"/audit/trace/{cycle['correlationId']}"
    yield "resource-then", f"{AGENT}?at={datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"


def settle(page: Page) -> None:
    """Wait until a page is drawn and hears what happens."""
    live = page.locator("#live")
    if live.count():
        expect(live).not_to_have_attribute("data-state", "off", timeout=PATIENCE * 1_000)
    page.evaluate("document.fonts.ready.then(() => true)")


def take(stage: Stage, pages: dict[str, str], folder: Path, who: str = "maya") -> None:
    """Write every page, light, dark and as a phone shows it."""
    for ending, (size, dark) in LOOKS.items():
        page = stage.open(who, "/profile", size=size, dark=dark)
        page.set_viewport_size(SIZES[size])
        for name, address in pages.items():
            page.goto(address)
            settle(page)
            where = folder / f"{name}{ending}.jpg"
            page.screenshot(path=where, type="jpeg", quality=QUALITY, animations="disabled")
        stage.close()


def main(folder: Path, only: set[str]) -> None:
    """Start a demo, bring it into its states, and take the pictures: all, or only some."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as data,
        launch() as browser,
        staged(Path(data), browser, "--demo") as stage,
    ):
        pages = PAGES | dict(prepare(stage))
        managed(Colleague(stage, "admin"))
        take(stage, {name: pages[name] for name in pages if name in only or not only}, folder)
        some = {name: MANAGED[name] for name in MANAGED if name in only or not only}
        take(stage, some, folder, "admin")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Take the pictures of the documentation.")
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--only", nargs="+", default=[], metavar="PAGE")
    given = parser.parse_args()
    main(given.folder, set(given.only))
