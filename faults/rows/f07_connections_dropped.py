"""F7: connections break inside transactions, and the answers to commits are lost."""

from __future__ import annotations

import time

from faults.proxy import Proxy
from faults.run import Minimum, Row, Run
from faults.servers import Unavailable
from tests.journeys.product import free_port

EVERY_SECONDS = 0.2
SHARE = 0.05
OTHERS = """
    SELECT pid FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


def act(run: Run) -> None:
    """End sessions at random, then lose commits on their way back."""
    with run.traffic():
        ended = terminate(run, run.seconds / 2)
    lost = lose_commits(run, run.seconds / 2)
    run.done = f"{ended} sessions ended, {lost} answers to commits lost"


def terminate(run: Run, seconds: float) -> int:
    """End a session of the product five times a second."""
    ended = 0
    with run.place.postgres.connect() as connection:
        for _ in run.until(seconds):
            found = [pid for (pid,) in connection.execute(OTHERS).fetchall()]
            if found:
                connection.execute("SELECT pg_terminate_backend(%s)", [run.random.choice(found)])
                run.strike()
                ended += 1
            time.sleep(EVERY_SECONDS)
    return ended


def lose_commits(run: Run, seconds: float) -> int:
    """Let a web process and a worker reach the database only through the proxy."""
    proxy, port = Proxy(run.place.postgres.port, SHARE, run.random), free_port()
    far = {"DATABASE_URL": run.place.postgres.url(proxy.port)}
    web = run.place.program("far-web", *run.place.serving(port), **far)
    worker = run.place.program("far-worker", "worker", **far)
    try:
        for each in (web, worker):
            each.start()
        if not (web.wait_until_ready() and worker.wait_until_ready()):
            raise Unavailable(f"Nothing starts behind the proxy: {web.said()[-300:]}")
        with run.traffic(f"http://127.0.0.1:{port}"):
            time.sleep(seconds)
    finally:
        for each in (web, worker):
            each.end()
        proxy.close()
    run.strike(proxy.dropped)
    return proxy.dropped


ROW = Row(
    "F7",
    "sessions are ended at random; answers to commits are lost",
    "what nobody knows is looked up again, and never done blindly",
    act,
    quick=16,
    thorough=240,
    minimum=Minimum(actions=100, decisions=10, effects=5, calls=2, pauses=1, faults=20),
)
