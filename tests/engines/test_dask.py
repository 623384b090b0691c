import pytest

from schedulers import cluster_of
from shoal.engines.dask import dask
from shoal.engines.order import in_order, results, using
from shoal.errors import ShoalError

distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def address():
    """A scheduler with two workers, which are threads of this process."""
    with cluster_of(2) as cluster:
        yield cluster.scheduler_address


def squared(task):
    return task * task


def failing(task):
    if task == 2:
        raise ValueError("the third")
    return task


def test_results_come_in_the_order_of_the_tasks(address):
    with using(dask(address, None)):
        assert list(in_order(squared, range(5), 2)) == [0, 1, 4, 9, 16]


def test_an_error_comes_out_in_its_turn_and_workers_stay_open_for_more(address):
    with dask(address, None)(squared, 2, False).executor:
        pass
    workers = dask(address, None)(squared, 1, False)
    with workers.executor:
        assert list(results(workers, [1])) == [1]
        assert list(results(workers, [2, 3])) == [4, 9]
    with using(dask(address, None)):
        found = in_order(failing, range(4), 2)
        assert [next(found), next(found)] == [0, 1]
        with pytest.raises(ValueError, match="the third"):
            next(found)


def test_without_a_scheduler_there_is_a_plain_sentence(monkeypatch):
    monkeypatch.setattr("shoal.engines.dask.PATIENCE", 0.2)
    with pytest.raises(ShoalError, match=r"there is no scheduler at tcp://127\.0\.0\.1:1"):
        dask("tcp://127.0.0.1:1", None)(squared, 1, False)


@pytest.mark.parametrize("address", ["nowhere://x", "tcp://127.0.0.1", "127.0.0.1:abc", ""])
def test_what_is_no_address_is_refused_in_a_plain_sentence(address):
    with pytest.raises(ShoalError, match=r"is no address of a scheduler.*write it such as tcp://10\.0\.0\.1:8786"):
        dask(address, None)(squared, 1, False)


def test_without_dask_it_is_told_how_to_get_it(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("shoal.engines.dask.import_module", missing)
    with pytest.raises(ShoalError, match=r"needs Dask: pip install 'shoal\[dask\]'"):
        dask(None, None)(squared, 1, False)
