"""What pages read at one moment is read once: nothing differs before something is written."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, cast

import pytest
from django.db import connection
from django.template import Context, Template
from django.utils import timezone

from controllers.web.base.page import Page, PageRequest
from controllers.web.base.shell import Shell
from resources.tables import visibility
from resources.tables.visibility import Roles, Scope

READS = ("SELECT", "BEGIN", "SAVEPOINT", "RELEASE", "PRAGMA")


class Around:
    """What stands around a page of a section; its figures are those of all pages."""

    def __init__(self, shell: Shell, section: str) -> None:
        self.shell, self.section = shell, section

    def __getattr__(self, name: str) -> Any:
        return getattr(self.shell, name)


class Memory:
    """Keeps what the pages of a person read, until anything is written or may have changed."""

    def __init__(self) -> None:
        self.scopes: dict[Hashable, Scope] = {}
        self.shells: dict[Hashable, Shell] = {}
        self.pages: dict[Hashable, Page] = {}

    def forget(self) -> None:
        """Let everything be read anew."""
        self.scopes.clear()
        self.shells.clear()
        self.pages.clear()

    def notice(self, execute: Callable[..., Any], sql: str, *given: Any) -> Any:
        """Forget everything when somebody writes."""
        if not sql.lstrip().upper().startswith(READS):
            self.forget()
        return execute(sql, *given)

    def reader(self, read: Callable[[Any], Scope]) -> Callable[[Any], Scope]:
        """Return what tells what somebody holds, and asks once."""

        def held(person: Any) -> Scope:
            key = (type(person), person.pk, timezone.now())
            if key not in self.scopes:
                self.scopes[key] = read(person)
            return self.scopes[key]

        return held

    def shell(self, page: Page) -> Shell:
        """Return what stands around a page, with the figures that others have read."""
        person = page.look.person
        key = (person and person.pk, page.now, visibility.current())
        kept = self.shells.setdefault(key, Shell(person, page.now, ""))
        return cast("Shell", Around(kept, page.section))

    def resume(self, page: Page, look: PageRequest) -> None:
        """Give a page what the same person read at the same address."""
        if look.person is None:
            return
        key = (type(page), look.path, look.query.urlencode(), look.person.pk, look.now)
        before = self.pages.get(key)
        vars(page).update(read_once(before) if before else {})
        self.pages[key] = page


def read_once(page: Page) -> dict[str, Any]:
    """Return what a page has read and keeps."""
    kind, known = type(page), vars(page)
    lasting = (name for name in known if isinstance(getattr(kind, name, None), cached_property))
    return {name: known[name] for name in lasting}


@contextmanager
def remembering(monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """Let pages share what they read."""
    memory, begin = Memory(), Page.__init__

    def begin_with_known(page: Page, look: PageRequest) -> None:
        begin(page, look)
        memory.resume(page, look)

    monkeypatch.setattr(Page, "__init__", begin_with_known)
    monkeypatch.setattr(Page, "shell", property(memory.shell))
    monkeypatch.setattr(Roles, "read", staticmethod(memory.reader(Roles.read)))
    # Nobody asks which templates were used; to note that copies every context.
    monkeypatch.setattr(Template, "_render", render)
    with connection.execute_wrapper(memory.notice):
        yield memory


def render(template: Template, context: Context) -> Any:
    """Render a template as outside of tests."""
    return template.nodelist.render(context)
