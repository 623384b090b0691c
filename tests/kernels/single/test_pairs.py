from hypothesis import given, settings

import naive
from samples import points
from shoal.steps.rows import maximum_distance


@settings(max_examples=200)
@given(points(widest=6))
def test_groups_are_those_of_the_naive_twin(sample):
    X, k = sample
    assert maximum_distance(X, k, None).tolist() == naive.labels_of(naive.maximum_distance(X, k))
