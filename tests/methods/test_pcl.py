from itertools import pairwise

import numpy as np
import pytest
from checks import large_samples, passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal import MDAV, PCL, VMDAV, Quantizer
from shoal.errors import ShoalError


@settings(max_examples=150)
@given(points(), st.sampled_from(["none", "jitter"]), st.integers(0, 100))
def test_sizes_are_met_exactly(sample, noise, seed):
    X, k = sample
    model = PCL(k=k, noise=noise, noise_rounds=5, n_starts=2, random_state=seed).fit(X)
    cells = len(X) // k
    assert model.n_groups_ == cells
    assert model.sizes_.min() == len(X) // cells
    assert model.sizes_.max() - model.sizes_.min() <= 1
    again = PCL(k=k, noise=noise, noise_rounds=5, n_starts=2, random_state=seed).fit(X)
    assert np.array_equal(model.labels_, again.labels_)


@settings(max_examples=150)
@given(points(), st.integers(0, 2**32))
def test_any_sizes_are_met(sample, seed):
    X, k = sample
    rng = np.random.default_rng(seed)
    cells = rng.integers(1, len(X) // k + 1)
    sizes = np.full(cells, k) + rng.multinomial(len(X) - cells * k, np.ones(cells) / cells)
    model = PCL(k=k, sizes=sizes, noise="none", n_starts=1, random_state=0).fit(X)
    assert model.sizes_.tolist() == sizes.tolist()
    shares = PCL(k=1, probabilities=sizes / sizes.sum(), noise="none", n_starts=1, random_state=0).fit(X)
    assert shares.sizes_.tolist() == sizes.tolist()


def test_records_that_differ_in_the_last_bit_are_not_swapped_for_ever():
    rng = np.random.default_rng(0)
    X = (rng.integers(0, 4, 21) * 0.542071033811758 - 1.8164134641762417) * (1 + rng.integers(0, 2, 21) * 2.0**-52)
    calls = []

    def stop(done, of):
        calls.append(done)
        assert len(calls) < 1000

    model = PCL(k=2, noise_rounds=5, n_starts=1, n_jobs=1, random_state=0).fit(X[:, None], progress=stop)
    assert model.sizes_.min() == 2


def never_rises(history):
    return all(after <= before * (1 + 1e-12) for before, after in pairwise(history))


def test_the_quantizer_gives_the_labels_again():
    X = np.random.default_rng(0).normal(size=(600, 3))
    for noise in ("none", "jitter"):
        model = PCL(k=12, noise=noise, n_starts=1, random_state=0).fit(X)
        assert isinstance(model.quantizer_, Quantizer)
        cost = model.quantizer_.distortion.costs(X, model.quantizer_.centroids) + model.costs_
        assert cost[np.arange(600), model.labels_] == pytest.approx(cost.min(axis=1), abs=1e-9)
        assert never_rises(model.history_)
        assert model.sse_ == pytest.approx(model.history_[-1])


def test_better_than_its_start_from_the_first_round_on():
    for X in large_samples(600, np.random.default_rng(2)).values():
        for start in (MDAV(k=5), VMDAV(k=5, gamma=0.5)):
            model = PCL(k=5, sizes="start", start=start, noise="none", n_starts=1).fit(X)
            before = start.fit(X)
            assert model.sizes_.tolist() == before.sizes_.tolist()
            assert model.history_[0] <= before.sse_ * (1 + 1e-9)
            assert never_rises(model.history_)


def test_noise_finds_better_cells():
    X = np.random.default_rng(3).normal(size=(500, 2))
    plain = PCL(k=5, noise="none", n_starts=1, random_state=0).fit(X)
    shaken = PCL(k=5, n_starts=1, random_state=0).fit(X)
    samples = PCL(k=5, noise="samples", noise_samples=40, noise_rounds=20, n_starts=1, random_state=0).fit(X)
    assert shaken.sse_ < plain.sse_ < MDAV(k=5).fit(X).sse_
    assert samples.sizes_.tolist() == [5] * 100


def test_the_numeric_solver_ends_with_exact_sizes():
    X = np.random.default_rng(4).normal(size=(3000, 2))
    numeric = PCL(k=300, cost_solver="levenberg-marquardt", speed=0.5, noise="none", n_starts=1).fit(X)
    exact = PCL(k=300, noise="none", n_starts=1).fit(X)
    assert numeric.sizes_.tolist() == [300] * 10
    assert numeric.sse_ == pytest.approx(exact.sse_, rel=0.05)


@pytest.mark.parametrize("distortion", ["euclidean", "manhattan", lambda x, y: float(np.abs(x - y).max())])
def test_other_distortions(distortion):
    X = np.random.default_rng(5).normal(size=(60, 2))
    model = PCL(k=6, distortion=distortion, n_starts=2, random_state=0).fit(X)
    assert model.sizes_.tolist() == [6] * 10
    assert never_rises(model.history_)
    assert np.array_equal(np.sort(np.unique(model.quantizer_.predict(X))), np.arange(10))


def test_places_on_the_globe_and_categories():
    rng = np.random.default_rng(6)
    places = np.column_stack([rng.uniform(40, 60, 40), rng.uniform(-10, 30, 40)])
    assert PCL(k=8, distortion="great-circle", n_starts=1).fit(places).sizes_.tolist() == [8] * 5
    table = np.abs(np.arange(4.0)[:, None] - np.arange(4.0))
    codes = rng.integers(0, 4, (30, 1)).astype(float)
    assert PCL(k=10, distortion=table, n_starts=2, random_state=0).fit(codes).sizes_.tolist() == [10] * 3


@pytest.mark.parametrize("hierarchy", [100, [200, 50]])
def test_macrocells_are_divided_on_their_own(hierarchy):
    X = np.random.default_rng(7).normal(size=(800, 2))
    one = PCL(k=4, hierarchy=hierarchy, n_starts=1, noise_rounds=10, random_state=0, n_jobs=1).fit(X)
    two = PCL(k=4, hierarchy=hierarchy, n_starts=1, noise_rounds=10, random_state=0, n_jobs=2).fit(X)
    assert one.sizes_.tolist() == [4] * 200
    assert np.array_equal(one.labels_, two.labels_)
    assert one.sse_ < MDAV(k=4).fit(X).sse_
    assert one.sse_ == pytest.approx(one.history_[-1])


def test_an_update_begins_where_the_last_fit_ended():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(500, 2))
    model = PCL(k=10, noise="none", n_starts=1).fit(X)
    rounds = len(model.history_)
    model.update(X + rng.normal(size=X.shape) * 0.001)
    assert len(model.history_) <= max(3, rounds // 2)
    assert model.sizes_.tolist() == [10] * 50
    model.update(np.concatenate([X, rng.normal(size=(23, 2))]))
    assert model.n_groups_ == 52
    model.update(X[:301])
    assert model.n_groups_ == 30
    assert model.sizes_.sum() == 301


@st.composite
def weighed(draw):
    """Points, k and two kinds of weights."""
    X, k = draw(points(most=30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kinds = (rng.integers(1, 5, len(X)).astype(float), rng.lognormal(0, 1, len(X)))
    return X, k, kinds[draw(st.integers(0, 1))], kinds[draw(st.integers(0, 1))], draw(st.integers(1, len(X) // k))


@settings(max_examples=100)
@given(weighed())
def test_weights_of_the_distortion_keep_the_sizes(sample):
    X, k, weights, _, _ = sample
    model = PCL(k=k, record_weights=weights, n_starts=1, random_state=0).fit(X)
    assert model.sizes_.max() - model.sizes_.min() <= 1
    assert model.sizes_.min() >= k
    assert not model.size_deviation_.any()
    found = naive.weighted_distortion(naive.plain(X), model.labels_.tolist(), (weights / weights.mean()).tolist())
    assert model.history_[-1] == pytest.approx(found, rel=1e-9, abs=1e-12 * np.abs(X).max() ** 2)


@settings(max_examples=100)
@given(weighed())
def test_weights_of_the_sizes_are_met_within_a_record(sample):
    """But where k records forbid it; and there are always k."""
    X, k, weights, size, cells = sample
    measures = {"distortion": weights, "size": size}
    model = PCL(
        k=k, record_weights=measures, probabilities=np.ones(cells) / cells, n_starts=1, random_state=0
    ).fit(X)
    off, counts = model.size_deviation_, model.sizes_
    assert len(counts) == cells
    assert counts.min() >= k
    assert off == pytest.approx(np.bincount(model.labels_, size) - size.sum() / cells, abs=1e-9)
    most = size.max() * (1 + 1e-9)
    assert (counts[off > most] == k).all()
    if (off < -most).any():
        assert (counts[off > 1e-9 * most] == k).all()


@pytest.mark.parametrize("weights", [np.full(300, 3.0), {"distortion": np.ones(300), "size": np.full(300, 0.1)}])
@pytest.mark.parametrize("hierarchy", [None, 100])
def test_equal_weights_change_nothing(weights, hierarchy):
    X = np.random.default_rng(11).normal(size=(300, 2))
    options = {"k": 7, "n_starts": 2, "noise_rounds": 5, "hierarchy": hierarchy, "random_state": 0}
    one, two = PCL(**options).fit(X), PCL(record_weights=weights, **options).fit(X)
    assert np.array_equal(one.labels_, two.labels_)
    assert one.history_ == two.history_


def test_whole_weights_are_records_again_and_again():
    rng = np.random.default_rng(12)
    X, times = rng.normal(size=(200, 2)), rng.integers(1, 6, 200)
    model = PCL(k=8, record_weights=times, noise="none", random_state=0).fit(X)
    plain = PCL(k=8, noise="none", random_state=0).fit(X)
    many = np.repeat(X, times, axis=0)

    def objective(labels):
        return naive.sse(
            many.tolist(), [np.flatnonzero(np.repeat(labels, times) == cell).tolist() for cell in range(25)]
        )

    assert objective(model.labels_) == pytest.approx(model.history_[-1] * times.mean())
    assert objective(model.labels_) < objective(plain.labels_)
    assert never_rises(model.history_)


def test_the_quantizer_takes_weights_too():
    rng = np.random.default_rng(13)
    X, weights = rng.normal(size=(300, 2)), rng.lognormal(0, 1, 300)
    model = PCL(k=15, record_weights=weights, n_starts=1, random_state=0).fit(X)
    assert np.mean(model.quantizer_.predict(X, weights) == model.labels_) > 0.9
    measures = {"distortion": weights, "size": rng.lognormal(0, 1, 300)}
    model = PCL(k=5, record_weights=measures, probabilities=[0.1] * 10, n_starts=1, random_state=0).fit(X)
    assert np.mean(model.quantizer_.predict(X, measures) == model.labels_) > 0.7


def test_weights_with_macrocells_and_other_distortions():
    rng = np.random.default_rng(14)
    X, size = rng.normal(size=(400, 2)), rng.integers(1, 9, 400)
    for options in ({"hierarchy": 100}, {"distortion": "euclidean"}, {"sizes": np.full(20, 3)}):
        shares = {} if "sizes" in options else {"probabilities": [0.05] * 20}
        measures = {"size": size * 60 / size.sum() if "sizes" in options else size, "distortion": size[::-1]}
        model = PCL(k=6, record_weights=measures, n_starts=1, random_state=0, **options, **shares).fit(X)
        assert model.sizes_.min() >= 6
        assert len(model.sizes_) == 20
        assert np.abs(model.size_deviation_).max() <= measures["size"].max()


def test_an_empty_cell_may_begin_anew_at_any_record():
    X = np.random.default_rng(15).normal(size=(600, 2))
    options = {"cost_solver": "levenberg-marquardt", "noise": "none", "n_starts": 1, "random_state": 0}
    for empty in ("split", "random"):
        start = np.repeat(np.arange(6), 100)
        model = PCL(k=100, start=start, empty=empty, **options).fit(np.round(X))
        assert model.sizes_.tolist() == [100] * 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"record_weights": np.ones(19)}, "weights of the distortion have the shape"),
        ({"record_weights": {"size": -np.ones(20)}}, "weights of the size must be finite and above 0"),
        (
            {"record_weights": np.arange(1, 21), "noise": "jitter"},
            "noise='jitter' is for records of equal weights",
        ),
        (
            {"record_weights": np.arange(1, 21), "cost_solver": "levenberg-marquardt"},
            "cost_solver='levenberg-marquardt' is for records of equal weights",
        ),
        (
            {"record_weights": {"size": np.arange(1, 21)}, "sizes": [10, 10]},
            "sum to 210 as the size weights do, not to 20",
        ),
        (
            {"record_weights": {"size": np.arange(1, 21)}, "probabilities": [1 / 6] * 6},
            "6 cells of k=4 records are more",
        ),
        ({"empty": "none"}, "empty must be one of split, random"),
        ({"sizes": [5, 5]}, "sizes sum to 10, but there are 20 records"),
        ({"sizes": [2, 18]}, "a cell of 2 records is below k=4"),
        ({"sizes": "mdav"}, "sizes must be one of start"),
        ({"sizes": [2.5, 17.5]}, "sizes must be whole numbers"),
        ({"sizes": []}, "sizes must be whole numbers"),
        ({"probabilities": [0.5, 0.4]}, "probabilities must sum to 1, not 0.9"),
        ({"probabilities": [1.5, -0.5]}, "probabilities must be positive"),
        ({"probabilities": [0.99, 0.01]}, "a cell of 0 records is below k=4"),
        ({"sizes": [10, 10], "probabilities": [0.5, 0.5]}, "give sizes or probabilities, not both"),
        ({"hierarchy": [5, 10]}, "hierarchy must name the largest macrocells first"),
        ({"hierarchy": 1}, "hierarchy must be at least 2"),
        ({"speed": 0}, "speed must be a number from 0.01 to 1"),
        ({"distortion": "squard"}, "squard"),
        ({"distortion": lambda x, y: float("nan")}, "nan|NaN"),
        ({"distortion": "euclidean", "noise": "jitter"}, "noise='jitter' is for squared distances"),
        ({"distortion": "euclidean", "cost_solver": "levenberg-marquardt"}, "is for squared distances"),
    ],
)
def test_bad_input_is_an_error(options, message):
    with pytest.raises(ShoalError, match=message):
        PCL(k=4, random_state=0, **options).fit(np.arange(40.0).reshape(20, 2))


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(PCL(k=3, n_starts=1, noise_rounds=3))


def test_progress():
    reports_progress_without_changing_the_groups(PCL(k=30, n_starts=2, noise_rounds=5, random_state=0))
