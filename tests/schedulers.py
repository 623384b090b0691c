"""Schedulers of Dask for tests."""

import logging

import pytest


def cluster_of(workers):
    """A scheduler with so many workers, which are threads of this process."""
    distributed = pytest.importorskip("distributed")
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    )
