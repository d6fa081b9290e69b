"""Dask's own cluster, used from a cell; and what is shown of the schedulers that the environment names."""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from oi_tui.actions.schedulers import describe_schedulers
from oi_tui.runtimes import Computer
from tests.runtimes.playing import play

_CLUSTER = """
from distributed import LocalCluster
options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "protocol": "tcp://"}
with LocalCluster(**options, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster:
    print(cluster.scheduler_address, flush=True)
    input()
"""
#: As the guide has it.
_CELL = """
from dask.distributed import Client
client = Client()
print(sum(client.gather(client.map(lambda n: n * n, range(10)))))
client.close()
"""


@pytest.fixture
def scheduler() -> Iterator[str]:
    """The address of a scheduler with one worker."""
    pytest.importorskip("distributed", reason="distributed is not installed here")
    words = [sys.executable, "-W", "ignore", "-c", _CLUSTER]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        yield process.stdout.readline().strip()
        process.stdin.write("\n")


@pytest.mark.slow
def test_a_cell_uses_the_cluster_that_the_environment_names(
    scheduler: str, make: Callable[..., Computer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", scheduler)
    host = scheduler.removeprefix("tcp://")
    assert list(describe_schedulers()) == [f"Dask scheduler (DASK_SCHEDULER_ADDRESS): {host}, reachable"]
    played = play(make(python=sys.executable), "python", _CELL)
    assert (played.state, played.text) == ("finished", "285\n")


def test_schedulers_are_named_with_what_is_wrong_and_without_secrets() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        open_port = listening.getsockname()[1]
        named = {
            "RAY_ADDRESS": f"ray://127.0.0.1:{open_port}",
            "SPARK_REMOTE": f"sc://127.0.0.1:{open_port}/;token=abcdef",
        }
        assert list(describe_schedulers(named)) == [
            f"Ray scheduler (RAY_ADDRESS): 127.0.0.1:{open_port}, reachable",
            f"Spark scheduler (SPARK_REMOTE): 127.0.0.1:{open_port}, reachable",
        ]
    closed = {"DASK_SCHEDULER_ADDRESS": f"tcp://127.0.0.1:{open_port}", "RAY_ADDRESS": "auto"}
    assert list(describe_schedulers(closed)) == [
        f"Dask scheduler (DASK_SCHEDULER_ADDRESS): 127.0.0.1:{open_port}, not reachable (Connection refused)",
        "Ray scheduler (RAY_ADDRESS): auto (not checked)",
    ]
    assert list(describe_schedulers({"RAY_ADDRESS": "ray://h:port"})) == [
        "Ray scheduler (RAY_ADDRESS): ray://h:port is not an address"
    ]
    assert list(describe_schedulers({})) == []
