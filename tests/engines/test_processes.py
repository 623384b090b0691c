"""Every kind of work that Shoal hands over is pickled, runs in processes and gives what threads and one worker give."""

import ast
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from threading import Event

import numpy as np
import pytest

import shoal
from shoal import MDAV, PCL, Blocked, Refined
from shoal.bounds.search import Duals, Points
from shoal.bounds.search import Search as PriceSearch
from shoal.engines import using
from shoal.engines.processes import processes
from shoal.engines.threads import threads
from shoal.engines.worker import Post, Workers, run, tell
from shoal.search.exchanges import Exchanges, halved
from shoal.search.weighted import exchanges_for

X = np.random.default_rng(1).normal(size=(240, 3))


def swept(n_jobs):
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(900, 3)), rng.permutation(np.arange(900) // 3)
    return Exchanges(3, n_jobs, region=300).round(points, labels, 1.0, 1).tolist()


def swept_with_weights(n_jobs):
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(900, 3)), rng.permutation(np.arange(900) // 3)
    search = exchanges_for(3, n_jobs, rng.uniform(1, 9, 900))
    return replace(search, region=300).round(points, labels, 1.0, 1).tolist()


def cut(n_jobs):
    return [part.tolist() for part in halved(X, 5, n_jobs)]


def refined(n_jobs):
    return Refined(k=40, rounds=2, n_jobs=n_jobs).fit(X).labels_.tolist()


def cooled(n_jobs):
    weights = np.random.default_rng(0).uniform(1, 9, len(X))
    return Refined(k=5, rounds=1, n_jobs=n_jobs).fit(X, sample_weight=weights).labels_.tolist()


def by_starts(n_jobs):
    return PCL(k=30, n_starts=3, noise_rounds=5, n_jobs=n_jobs, random_state=0).fit(X).labels_.tolist()


def by_macrocells(n_jobs):
    model = PCL(k=10, hierarchy=80, n_starts=1, noise_rounds=5, n_jobs=n_jobs, random_state=0)
    return model.fit(X).labels_.tolist()


def by_blocks(n_jobs):
    return Blocked(MDAV(k=4), blocks=3, sweeps=0, n_jobs=n_jobs).fit(X).labels_.tolist()


def moved(n_jobs):
    points = np.random.default_rng(2).normal(size=(11_000, 2))
    return Blocked(MDAV(k=40), sweeps=0, cell_rounds=1, n_jobs=n_jobs).fit(points).labels_.tolist()


def priced(n_jobs):
    points = Points(X[:40], 3, 5)
    none = np.empty((0, 3), np.int64), np.empty(0)
    search = PriceSearch(points, Duals(np.full(len(points.rows), 0.3), *none), 1e-12, n_jobs)
    for _ in search.run():
        pass
    return search.lowest.tolist(), [(group.tolist(), cost) for group, cost in search.groups]


WORK = {
    "Sweeping": swept,
    "WeightedSweeping": swept_with_weights,
    "Halving": cut,
    "Annealing": refined,
    "Cooling": cooled,
    "Starting": by_starts,
    "Dividing": by_macrocells,
    "Grouping": by_blocks,
    "Moving": moved,
    "Looking": priced,
}


@cache
def alone(name):
    return WORK[name](1)


@pytest.fixture(scope="module")
def pool():
    """Two processes for all kinds of work: starting them takes longer than what they do."""
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        yield executor


class Pooled:
    """An executor whose tasks carry their work along."""

    def __init__(self, pool, work):
        self.pool, self.work = pool, work

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def submit(self, _, task):
        return self.pool.submit(self.work, task)

    def shutdown(self, **_):
        pass


@pytest.mark.parametrize("name", WORK)
@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_work_gives_the_same_wherever_it_runs(pool, kind, name):
    opened = []

    def watched(work, n_jobs, messages):
        opened.append(type(work).__name__)
        return (
            threads(work, n_jobs, messages)
            if kind == "threads"
            else Workers(Pooled(pool, work), Post(None, Event()))
        )

    with using(watched):
        assert WORK[name](2) == alone(name)
    assert name in opened


def test_the_processes_of_shoal_itself_give_the_same():
    with using(processes):
        assert WORK["Looking"](2) == alone("Looking")


def test_all_work_that_is_handed_over_is_tested_here():
    """Each call of `in_order` has an instance of a class of its own module, here or assigned to `work`.

    Work that is kept on threads, because its tasks write into arrays that they share, is never pickled.
    """
    found = set()
    for file in Path(shoal.__file__).parent.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        imported = {
            name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names
        }
        made = {
            node.value.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Name)
            and node.value.func.id in classes | imported
            and node.targets[0].id == "work"
        }
        methods = [
            node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "_work"
        ]  # what a class and those that inherit from it hand over
        returned = [node for method in methods for node in ast.walk(method) if isinstance(node, ast.Return)]
        found |= {node.value.func.id for node in returned}
        kept = {
            inner
            for node in ast.walk(tree)
            if isinstance(node, ast.With)
            and any(ast.unparse(item.context_expr) == "using(threads)" for item in node.items)
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if node in kept:
                continue
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "in_order":
                given = node.args[0]
                if isinstance(given, ast.Attribute):  # self.looking is a Looking
                    found.add(given.attr.title())
                elif isinstance(given, ast.Call):
                    found.add(given.func.id)
                elif not methods:
                    assert given.id == "work"
                    assert made
                    found |= made
    assert {"Sweeping", "WeightedSweeping", "Annealing"} < found
    assert found <= set(WORK)


def told(task):
    tell(task)
    return task + 1


def test_processes_begin_with_their_work_and_have_a_line_if_asked():
    workers = processes(told, 2, True)
    with workers.executor as executor:
        assert list(executor.map(run, [1, 2])) == [2, 3]
        assert {workers.post.messages.get(timeout=60) for _ in range(2)} == {1, 2}
    assert processes(told, 1, False).post.messages is None
