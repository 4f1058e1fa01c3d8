"""Economics: what budgets have left and where they lead, and what agents asked to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from controllers.budgets.budget_status import Stand, stands
from controllers.engine.finding_text import listed
from controllers.models import Admission, Crossing, Price
from controllers.web.base import spreadsheet
from controllers.web.base.page import COUNTED, Page, Part, part
from controllers.web.economics.economics_rows import (
    Account,
    AdmissionRow,
    AgentShare,
    account,
    asked,
    shares,
)
from resources.tables.ledger import instant
from resources.tables.models import Resource
from resources.usecases.access_rules import TAKEN, page, rights

ROWS = 50
CHUNK = 500
# The longest lists of the page; nobody reads further here.
MOST, ALERTS, PICKS = 200, 10, 24
LARGEST = 2**63 - 1
DECLARED = (*COUNTED, "resource.spec-changed")
ADMISSIONS = (
    *("Number", "Asked", "Agent", "Domain", "Operation", "On", "Tokens", "Cost", "Currency"),
    *("State", "Reasons", "Permit ends", "Used"),
)


class DomainLink(NamedTuple):
    """A domain to look at alone."""

    words: str
    query: str
    on: bool


class Economics(Page):
    """The money, and who asked for it."""

    rights = page()
    template = "economics/page.html"
    section = "economics"

    def pieces(self) -> Mapping[str, Part]:
        """Show budgets anew when something was spent, declared or told about one of them."""
        moved = ("admission", *DECLARED, *(f"budget/{each.name}" for each in self.budgets))
        pieces = {
            **super().pieces(),
            "economics-head": part("economics/_head.html", *moved, shared=True),
            "economics-domains": part("economics/_domains.html", *COUNTED, shared=True),
            "economics-budgets": part("economics/_budgets.html", *moved, shared=True),
            "economics-shares": part("economics/_shares.html", *moved, shared=True),
            "economics-alerts": part("economics/_alerts.html", *moved, shared=True),
            "economics-prices": part("economics/_prices.html", "price", shared=True),
            "economics-asked": part("economics/_asked.html", "admission", *DECLARED, shared=True),
        }
        # Nothing new belongs on an older page.
        if self.before:
            del pieces["economics-asked"]
        return pieces

    @cached_property
    def domain(self) -> str:
        """The domain that is looked at alone."""
        return domain_in(self.look.query)

    @cached_property
    def picks(self) -> list[DomainLink]:
        """The domains to choose from."""
        rows = Resource.objects.filter(kind="Domain", deleted_at=None).order_by("name")
        names = list(rows.values_list("name", flat=True)[:PICKS])
        if self.domain and self.domain not in names:
            names.append(self.domain)
        every = DomainLink("All domains", "", not self.domain)
        return [
            every,
            *(DomainLink(each, self.address(each), each == self.domain) for each in names),
        ]

    def address(self, domain: str, before: int = 0) -> str:
        """Return the query of a domain, and of an older page."""
        said = {"domain": domain, "before": before}
        return urlencode({name: value for name, value in said.items() if value})

    @cached_property
    def budgets(self) -> list[Resource]:
        """The budgets that are looked at."""
        rows = Resource.objects.filter(kind="Budget", deleted_at=None)
        if self.domain:
            rows = rows.filter(domain=self.domain)
        return list(rows.order_by("name")[:MOST])

    @cached_property
    def stands(self) -> list[Stand]:
        """How they stand."""
        found = stands(self.budgets, self.now)
        return sorted(found, key=lambda each: (-(each.share or 0), each.budget.name))

    @cached_property
    def accounts(self) -> list[Account]:
        """The rows of the table, those that are used up most first."""
        return [account(each, self.now) for each in self.stands]

    @cached_property
    def shares(self) -> list[AgentShare]:
        """What agents have had of their shares, the most first."""
        found = [share for each in self.stands for share in shares(each, self.now)]
        return sorted(found, key=lambda each: (-each.share, each.agent))[:MOST]

    @cached_property
    def title(self) -> str:
        """The status of the page in a sentence."""
        spent = [each.name for each in self.accounts if each.spent]
        ahead = [each.name for each in self.accounts if each.over and not each.spent]
        if not self.accounts:
            return "No budget yet."
        if spent:
            return f"{listed(spent)} {'is' if len(spent) == 1 else 'are'} spent."
        if ahead:
            verb = "heads beyond its limit" if len(ahead) == 1 else "head beyond their limits"
            return f"{listed(ahead)} {verb}."
        count = len(self.accounts)
        return f"All {count} budgets are within their limits." if count > 1 else "It is in budget."

    @cached_property
    def alerts(self) -> list[Crossing]:
        """What people were told lately about these budgets."""
        rows = Crossing.objects.filter(budget__in=[each.pk for each in self.budgets])
        return list(rows.order_by("-at", "-pk")[:ALERTS])

    @cached_property
    def prices(self) -> list[Price]:
        """What models cost."""
        return list(Price.objects.order_by("provider", "name")[:MOST])

    @cached_property
    def before(self) -> int:
        """The admission that the page before ended with."""
        said = self.look.query.get("before", "")
        plain = said.isascii() and said.isdecimal() and len(said) < 20
        return min(int(said), LARGEST) if plain else 0

    @cached_property
    def found(self) -> list[Admission]:
        """The admissions of this page, and one more if there is another."""
        rows = admissions(self.domain).order_by("-pk")
        return list((rows.filter(pk__lt=self.before) if self.before else rows)[: ROWS + 1])

    @cached_property
    def asked(self) -> list[AdmissionRow]:
        """What agents asked, the newest first."""
        return [asked(each) for each in self.found[:ROWS]]

    @cached_property
    def older(self) -> str:
        """The query of the page after this one."""
        more = len(self.found) > ROWS
        return self.address(self.domain, self.found[ROWS - 1].pk) if more else ""


def domain_in(query: QueryDict) -> str:
    """Read the domain that somebody asks for; PostgreSQL keeps no NUL."""
    return query.get("domain", "")[:253].replace("\0", "")


def admissions(domain: str) -> QuerySet[Admission]:
    """Return what the agents of a domain, or all, asked."""
    rows = Admission.objects.select_related("agent", "target", "proposal")
    return rows.filter(agent__domain=domain) if domain else rows


@rights(page(TAKEN))
@require_safe
def export(request: HttpRequest) -> StreamingHttpResponse:
    """Send every admission that the filter chooses, the newest first."""
    name = f"admissions-{timezone.now():%Y-%m-%d}.csv"
    return spreadsheet.download(request, lines(domain_in(request.GET)), name)


def lines(domain: str) -> Iterator[spreadsheet.Piece]:
    """Write admissions, each time only as many as fit in the memory."""
    yield spreadsheet.heading(ADMISSIONS)
    rows, below = admissions(domain).order_by("-pk"), LARGEST
    while chunk := list(rows.filter(pk__lt=below)[:CHUNK]):
        yield spreadsheet.rows(cells(asked(each)) for each in chunk)
        below = chunk[-1].pk


def cells(each: AdmissionRow) -> tuple[str, ...]:
    """Return what the file says of one admission."""
    row = each.row
    return (
        str(row.pk),
        instant(row.asked_at),
        row.agent.name,
        row.agent.domain,
        row.operation,
        each.on,
        str(row.tokens),
        f"{row.cost / 1_000_000:.6f}",
        row.currency,
        row.state,
        " ".join(each.reasons),
        instant(row.expires_at) if row.expires_at else "",
        instant(row.redeemed_at) if row.redeemed_at else "",
    )
