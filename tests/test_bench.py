"""The benchmark measures what it says: both sides do the same work, and figures are judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.db import connection, connections
from django.test import Client
from django.utils import timezone

from bench import asking, floors, report, sharing, subjects, world
from bench.databases import Sqlite
from bench.figures import GATES, Figure, as_document, as_rows
from bench.suite import Failed, Plan, Suite
from bench.wider import percentile
from controllers.models import Judgement
from controllers.workqueue import compiled_controllers
from ioa_site import cli
from resources.documents import validation
from resources.tables.models import (
    DirtyMark,
    LedgerEvent,
    LedgerStream,
    Resource,
    ResourceRevision,
)
from resources.usecases import tokens
from tests.resources.conftest import on_file
from tests.rows import every_row

SIZE = 200


@pytest.fixture
def shared_database(transactional_db: None, tmp_path: Path) -> Iterator[str]:
    """Give the address of a database that the floor can open beside Django."""
    compiled_controllers.compiled.cache_clear()
    default = connections["default"]
    if default.vendor == "sqlite":
        for _ in on_file(default, tmp_path / "shared.sqlite3"):
            yield f"sqlite:///{tmp_path / 'shared.sqlite3'}"
        return
    given = default.settings_dict
    place = f"host={given['HOST']}&port={given['PORT'] or 5432}"
    yield f"postgres://{given['USER']}:{given['PASSWORD']}@/{given['NAME']}?{place}"


@pytest.fixture
def floor(shared_database: str) -> Iterator[floors.Sqlite | floors.Postgres]:
    """Give the floor, with tables of its own."""
    subjects.load(SIZE)
    store = floors.open_store(shared_database)
    yield store
    store.connection.close()
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE bench_result")
        cursor.execute("DROP TABLE bench_plan")


def judged_by_subject() -> dict[int, tuple[Any, ...]]:
    """Return what the loop concluded."""
    return {
        each.resource_id: (
            each.version,
            each.score,
            each.drifted,
            {
                name: {"score": found["score"], "of": found["of"]}
                for name, found in each.dimensions.items()
            },
        )
        for each in Judgement.objects.all()
    }


def judged_by_floor() -> dict[int, tuple[Any, ...]]:
    """Return what the floor concluded."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT resource_id, version, score, drifted, CAST(dimensions AS text)"
            " FROM bench_result"
        )
        rows = cursor.fetchall()
    return {
        key: (version, score, bool(drifted), orjson.loads(dimensions))
        for key, version, score, drifted, dimensions in rows
    }


def test_the_floor_and_the_subject_do_the_same_work(
    floor: floors.Sqlite | floors.Postgres,
) -> None:
    first = subjects.first()

    assert first["judged"] == floors.cycle(floor) == SIZE
    settled = judged_by_subject()
    # The first cycle leaves a condition on each, so that each has another version since.
    assert {key: each[1:] for key, each in settled.items()} == {
        key: each[1:] for key, each in judged_by_floor().items()
    }

    subjects.change()
    full = subjects.full()

    assert full["judged"] == full["changed"] == floors.cycle(floor) == SIZE
    changed = judged_by_subject()
    assert {key: each[1:] for key, each in changed.items()} == {
        key: each[1:] for key, each in judged_by_floor().items()
    }
    moved = [key for key in changed if changed[key][1] != settled[key][1]]
    crossed = [key for key in changed if changed[key][2] != settled[key][2]]
    assert (len(moved), len(crossed)) == (SIZE // 10 + SIZE // 100, SIZE // 100)


@pytest.mark.usefixtures("floor")
@pytest.mark.parametrize(("run", "judged"), [(subjects.some, SIZE // 100), (subjects.nothing, 0)])
def test_a_cycle_looks_only_at_what_changed(
    run: Callable[[], dict[str, float]], judged: int
) -> None:
    subjects.first()

    assert run()["judged"] == judged


def test_the_agents_that_are_measured_are_agents() -> None:
    documents = [*world.surroundings(), *(world.document(number) for number in range(20))]
    again = [document | {"status": world.status(7, again=True)} for document in documents[-1:]]

    assert [problem for each in documents + again for problem in validation.check(each)] == []
    assert 1_300 < len(orjson.dumps([documents[-1]["spec"], documents[-1]["status"]])) < 1_700


@pytest.mark.django_db
def test_many_agents_are_loaded_as_the_checks_would_leave_them() -> None:
    world.load(20)

    row = Resource.objects.get(kind="Agent", name=world.name(7))
    document = world.document(7)
    assert (row.spec, row.status) == (document["spec"], document["status"])
    assert row.metadata == {"labels": document["metadata"]["labels"]}
    assert row.domain == document["spec"]["domain"]
    assert row.references.get().target_name == row.domain
    assert row.conditions.count() == 3


@pytest.mark.django_db
def test_divided_every_agent_has_one_controller() -> None:
    world.load(40)

    sharing.divide()

    assert Judgement.objects.count() == 40
    judges = Judgement.objects.values_list("controller__name", flat=True).distinct()
    assert len(judges) == world.DOMAINS


def called(name: str) -> dict[str, Any]:
    """Call the API as the benchmark does, through the product or bare."""
    lifetime = timedelta(days=1)
    issued = tokens.issue(
        asking.AGENT,
        scopes=asking.SCOPES,
        lifetime=lifetime,
        actor=world.PERSON,
        now=timezone.now(),
    )
    made = {"list": asking.list_some, "report": asking.report}[name](f"Bearer {issued.text}")
    client = Client(SERVER_NAME="localhost")
    request = made(1)
    answer = client.generic(
        request.method,
        request.get_full_path(),
        request.body,
        content_type=request.content_type,
        headers=dict(request.headers),
    )
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.django_db
def test_the_bare_list_shows_what_the_api_shows(settings: Any) -> None:
    world.load(52 * world.DOMAINS)
    ours = called("list")
    settings.ROOT_URLCONF, settings.MIDDLEWARE = "bench.bare", []

    bare = called("list")

    assert len(bare["items"]) == len(ours["items"]) == asking.LISTED
    for one, other in zip(bare["items"], ours["items"], strict=True):
        assert one["metadata"]["name"] == other["metadata"]["name"]
        assert one["spec"] == other["spec"]


@pytest.mark.django_db
def test_the_bare_report_writes_as_much_as_the_api(settings: Any) -> None:
    world.load(5)

    def written() -> list[int]:
        row = Resource.objects.get(kind="Agent", name=asking.AGENT)
        tables: list[Any] = [ResourceRevision, LedgerEvent, LedgerStream, DirtyMark]
        return [row.status.get("queueLength", 0), *(each.objects.count() for each in tables)]

    called("report")
    before = written()
    settings.ROOT_URLCONF, settings.MIDDLEWARE = "bench.bare", []
    called("report")

    # A token is an entry of the ledger, too.
    assert written() == [1, before[1] + 1, before[2] + 2, before[3], before[4]]


@every_row(
    ("name", "value", "verdict"),
    [
        ("B1", 1.5, "ok"),
        ("B1", 2.5, "misses aim"),
        ("B1", 2.6, "FAILS"),
        ("B3", 51, "ok"),
        ("B3", 31, "misses aim"),
        ("B3", 29, "FAILS"),
        ("B9", 1_000, "misses aim"),
        ("B9max", 249, "ok"),
        ("B9max", 251, "FAILS"),
        ("B1floor", 1, ""),
    ],
)
def test_a_figure_is_held_against_its_limits(name: str, value: float, verdict: str) -> None:
    assert Figure(name, "sqlite", 100_000, (value,)).verdict == verdict


def test_limits_for_large_sizes_do_not_judge_small_ones() -> None:
    assert Figure("B3nothing", "sqlite", 10_000, (120.0,)).verdict == ""
    assert Figure("B3nothing", "sqlite", 100_000, (120.0,)).verdict == "FAILS"


def test_figures_are_written_as_scripts_expect_them() -> None:
    figures = [
        Figure("B1", "sqlite", 10_000, (2.0, 1.0, 6.0)),
        Figure("B1", "postgres", 10_000, (1.2,)),
        Figure("B4", "sqlite", 100_000, (150.0,)),
    ]

    found = as_document(figures)

    assert found["B1"]["sqlite"]["10000"]["ratio"] == 2.0
    assert (found["B1"]["sqlite"]["10000"]["low"], found["B1"]["sqlite"]["10000"]["high"]) == (
        1,
        6,
    )
    assert found["B1"]["postgres"]["10000"]["verdict"] == "ok"
    assert found["B4"]["sqlite"]["100000"]["megabytes"] == 150.0
    assert [row[4:6] for row in as_rows(figures)] == [
        ("1.20x", ""),
        ("2.00x", "1.00x … 6.00x"),
        ("150 MB", ""),
    ]


def test_the_page_of_figures_is_made_of_runs(tmp_path: Path) -> None:
    files = []
    for place, values in enumerate([(2.0, 1.0, 6.0), (2.1, 1.5, 3.0)]):
        found = as_document([Figure("B1", "sqlite", 100_000, values)])
        files.append(tmp_path / f"{place}.json")
        files[-1].write_bytes(orjson.dumps({"machines": ["2 cores"], "figures": found}))

    page = report.page(files)

    (row,) = [line for line in page.splitlines() if line.startswith("| B1 ")]
    told = "| sqlite | 100,000 | 2.10x | 1.50x … 3.00x | 3 | 1.50x | 2.50x | misses aim |"
    assert row.endswith(told)
    assert page.count("- 2 cores") == 1


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(number) for number in range(100, 0, -1)]

    assert percentile(values, 0.99) == 100
    assert percentile(values, 0.5) == 51
    assert percentile([3.0], 1.0) == 3


def test_an_unknown_figure_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--only", "B1,B99"]) == 2
    assert "B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11" in capsys.readouterr().err


@pytest.mark.sqlite
def test_a_figure_that_fails_is_said_and_costs_no_other(tmp_path: Path) -> None:
    suite = Suite(Sqlite(tmp_path), tmp_path, Plan(), lambda *_: None)
    found = suite.figure("B5", 10, [1.0])

    def broken() -> Iterator[Figure]:
        yield found
        raise Failed("It ended too early.")

    assert list(suite.attempt(broken())) == [found]
    assert suite.failures == ["It ended too early."]


@pytest.mark.slow
@pytest.mark.sqlite
def test_the_whole_suite_runs(tmp_path: Path) -> None:
    plan = Plan(
        sizes=(1_000, 2_000),
        pending=(10, 50),
        enqueued=20,
        edited=10_000,
        calls=20,
        guests=20,
        rounds=2,
        burst=5,
        pairs=1,
    )
    seen: list[str] = []

    suite = Suite(Sqlite(tmp_path), tmp_path, plan, lambda what, done, total: seen.append(what))
    figures = list(suite.measure())

    elsewhere = {"B6", "B6one", "B9pause", "B9pausemax"} | {
        name for name in GATES if name.startswith("B11")
    }
    assert {each.name for each in figures} == set(GATES) - elsewhere
    assert all(value > 0 for each in figures for value in each.values if each.name != "B8lost")
    assert "2,000 floor" in seen
    assert list(tmp_path.glob("*.sqlite3")) == []
