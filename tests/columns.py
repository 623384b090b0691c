"""Columns as the attributes of the package read them, from plain lists."""

import narwhals as nw
import pandas as pd
import pyarrow as pa

from shoal.attributes import Wish, attribute_of
from shoal.table import Column


def text_column(values, name="x"):
    """A column of a CSV file."""
    texts = pa.chunked_array([pa.array(values, pa.string())])
    return Column(name, nw.from_native(texts, series_only=True), texts)


def held_column(values, dtype=None, name="x"):
    """A column of a dataframe of pandas, or the series of any other."""
    series = pd.Series(values, dtype=dtype) if isinstance(values, list) else values
    return Column(name, nw.from_native(series, series_only=True))


def made_of(values, scaling="zscore", weight=1.0, from_file=True, **wish):
    """The attribute of a column of text, or of any values."""
    column = text_column(values) if from_file else held_column(values)
    return attribute_of(column, Wish(**wish), scaling, weight)[0]


def parts_of(groups):
    """The records group by group and where each group starts, as attributes take them."""
    order = [record for group in groups for record in group]
    starts = [0]
    for group in groups:
        starts.append(starts[-1] + len(group))
    return pd.Series(order, dtype="int64").to_numpy(), pd.Series(starts, dtype="int64").to_numpy()


def labels_of(groups):
    """The group of each record."""
    labels = [0] * sum(map(len, groups))
    for number, group in enumerate(groups):
        for record in group:
            labels[record] = number
    return pd.Series(labels, dtype="int64").to_numpy()
