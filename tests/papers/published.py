"""The published figures and the standard data, as the papers use them."""

import tomllib

import numpy as np
import pandas as pd


def figures(shared):
    return tomllib.loads((shared / "reference" / "published.toml").read_text())


def zscores(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def points_of(shared, name):
    table = pd.read_csv(shared / "data" / f"{name}.csv")
    if name == "eia":
        table = table[[c for c in table if c == "UTILITYID" or c.endswith(("REVENUE", "SALES"))]]
    return zscores(table.to_numpy(float))


def second_phase(X, labels, k):
    """The loss after the second phase of DBA: groups dissolved, then split."""
    from shoal.methods.tfrp import dissolve
    from shoal.partition import Partition
    from shoal.steps.splitting import split

    return Partition(X, split(X, dissolve(X, labels, None), k, None), k).information_loss


def sim_1(rng):
    """100 records, 10 attributes, uniform (Mortazavi et al. 2013, Section 5)."""
    return zscores(rng.uniform(-1000, 1000, size=(100, 10)))


def sim_2(rng):
    """Five Gaussian clusters of 20 records in 4 to 8 dimensions."""
    d = int(rng.integers(4, 9))
    clusters = [rng.normal(rng.random(d), rng.uniform(0.1, 0.3), size=(20, d)) for _ in range(5)]
    return zscores(np.concatenate(clusters))


def loss_in_distances(X, model):
    """L_E: 100 times the sum of distances to the centroids over that to the mean of all."""
    within = np.sqrt(((X - model.centroids_[model.labels_]) ** 2).sum(axis=1)).sum()
    return 100 * within / np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1)).sum()
