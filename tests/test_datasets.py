import numpy as np

from shoal.datasets import clinic, sme


def test_the_clinic_is_the_same_every_time_and_plausible():
    table = clinic()
    assert table.equals(clinic())
    assert table.num_rows == 3000
    columns = {name: table[name].to_numpy() for name in table.column_names}
    assert 1920 < columns["birth_year"].min() < columns["birth_year"].max() <= 2006
    assert columns["height"].min() > 140
    assert columns["height"].max() < 215
    assert columns["income"].min() > 0
    assert np.corrcoef(columns["height"], columns["weight"])[0, 1] > 0.4
    assert len(set(columns["diagnosis"])) == 8


def test_another_seed_gives_other_patients():
    assert not clinic(50, seed=1).equals(clinic(50, seed=2))


def test_the_companies_are_eleven():
    assert sme().num_rows == 11
    assert sme().column_names == ["company", "surface", "employees", "turnover", "net_profit"]
