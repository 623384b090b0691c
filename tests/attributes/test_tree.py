import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from shoal.attributes.taxonomy import Taxonomy
from shoal.attributes.tree import Tree
from trees import coded, grouped, taxonomies


def tree_of(taxonomy, codes):
    """The tree that codes need, their nodes, and parents and lengths for the naive twins."""
    small = taxonomy.among(codes)
    return Tree(small), np.array([small.nodes.index(code) for code in codes]), (small.parents, small.lengths)


@st.composite
def groups(draw):
    taxonomy, codes = draw(coded())
    tree, nodes, plain = tree_of(taxonomy, codes)
    labels = np.array(draw(grouped(len(codes))))
    order, starts = np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(labels))])
    return tree, nodes, plain, labels, order, starts


def by_group(nodes, labels):
    return [nodes[labels == group].tolist() for group in range(labels.max() + 1)]


@given(taxonomies())
def test_path_lengths_and_meetings_are_those_of_walking_up(taxonomy):
    tree, _, (parents, lengths) = tree_of(taxonomy, taxonomy.nodes)
    a, b = (part.ravel() for part in np.meshgrid(np.arange(len(tree)), np.arange(len(tree))))
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert tree.meetings(a, b).tolist() == [naive.meeting(parents, x, y) for x, y in pairs]
    assert tree.distances(a, b) == pytest.approx([naive.path_length(parents, lengths, x, y) for x, y in pairs])


@given(coded())
def test_squared_distances_between_points_are_path_lengths(drawn):
    tree, nodes, _ = tree_of(*drawn)
    points = tree.coordinates(np.bincount(nodes, minlength=len(tree)), 256)
    assert points.shape == (len(tree), max(1, len(tree) - 1))
    every = np.arange(len(tree))
    squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    assert squared == pytest.approx(np.array([tree.distances(every, np.full(len(tree), b)) for b in every]))


@given(groups())
def test_the_median_is_the_best_of_all_nodes_and_the_highest_of_the_best(drawn):
    tree, nodes, plain, labels, order, starts = drawn
    wanted = [naive.median_node(*plain, records) for records in by_group(nodes, labels)]
    assert tree.medians(nodes, order, starts).tolist() == wanted
    assert tree.middle(np.bincount(nodes, minlength=len(tree))) == naive.median_node(*plain, nodes.tolist())


@given(groups())
def test_the_median_has_at_most_twice_the_sse_of_the_points(drawn):
    tree, nodes, _, labels, order, starts = drawn
    points = tree.coordinates(np.bincount(nodes, minlength=len(tree)), 256)[nodes]
    lost = tree.distances(nodes, tree.medians(nodes, order, starts)[labels])
    for group in range(labels.max() + 1):
        mine = points[labels == group]
        assert lost[labels == group].sum() <= 2 * ((mine - mine.mean(axis=0)) ** 2).sum() * (1 + 1e-9) + 1e-9


def test_the_bound_of_twice_the_sse_is_nearly_reached():
    """Half the records have one code, nearly half another: the median is the first, the mean lies between."""
    tree = Tree(Taxonomy(("*", "a", "b"), (-1, 0, 0), (0.0, 1.0, 1.0)))
    nodes = np.repeat([1, 2], [500, 499])
    counts = np.bincount(nodes, minlength=3)
    points = tree.coordinates(counts, 2)[nodes]
    lost = tree.distances(nodes, np.full(999, tree.middle(counts))).sum()
    assert lost / ((points - points.mean(axis=0)) ** 2).sum() == pytest.approx(2, abs=0.01)


@given(groups())
def test_the_ancestor_is_the_lowest_node_above_all_records(drawn):
    tree, nodes, (parents, _), labels, order, starts = drawn
    wanted = [naive.common_ancestor(parents, records) for records in by_group(nodes, labels)]
    assert tree.ancestors(nodes, order, starts).tolist() == wanted


@given(groups())
def test_the_mode_is_the_most_frequent_code_and_ties_go_by_the_whole_table(drawn):
    tree, nodes, _, labels, order, starts = drawn
    counts = np.bincount(nodes, minlength=len(tree))
    wanted = [naive.mode_node(records, nodes.tolist()) for records in by_group(nodes, labels)]
    assert tree.modes(nodes, order, starts, counts).tolist() == wanted


@given(groups(), st.booleans())
def test_a_random_member_has_the_path_length_of_all_pairs_of_records_and_members(drawn, is_set):
    tree, nodes, plain, labels, order, starts = drawn
    members, records, begins = tree.members(nodes, order, starts)
    sizes = np.diff(begins) if is_set else np.diff(starts)
    weights = (1.0 if is_set else records) / np.repeat(sizes, np.diff(begins))
    total = 0.0
    for group, mine in enumerate(by_group(nodes, labels)):
        assert members[begins[group] : begins[group + 1]].tolist() == sorted(set(mine))
        for record in mine:
            for member in set(mine):
                share = 1 / len(set(mine)) if is_set else mine.count(member) / len(mine)
                total += share * naive.path_length(*plain, record, member)
    assert tree.expected(nodes, labels, members, weights, begins) == pytest.approx(total, rel=1e-9, abs=1e-9)


@given(coded())
def test_variance_and_the_longest_path_are_those_of_all_pairs(drawn):
    tree, nodes, plain = tree_of(*drawn)
    counts = np.bincount(nodes, minlength=len(tree))
    paths = [naive.path_length(*plain, a, b) for a in nodes.tolist() for b in nodes.tolist()]
    assert tree.variance(counts).sum() == pytest.approx(sum(paths) / len(paths) / 2)
    assert tree.widest(counts) == pytest.approx(max(paths))


def test_groups_of_a_long_chain_need_no_table_of_all_ancestors():
    n = 100_000
    tree = Tree(Taxonomy(tuple(map(str, range(n))), (-1, *range(n - 1)), (0.0, *[1.0] * (n - 1))))
    nodes, order = np.arange(n), np.arange(n)
    starts = np.arange(0, n + 1, 5)
    assert tree.medians(nodes, order, starts).tolist() == list(range(2, n, 5))
    assert tree.ancestors(nodes, order, starts).tolist() == list(range(0, n, 5))
    assert tree.distances(nodes, nodes[::-1].copy()).max() == n - 1


def test_names_that_are_whole_numbers_are_told():
    for names, whole in ((("1", "-20"), True), (("1", "*"), False), (("01", "1"), False), (("²", "1"), False)):
        assert Tree(Taxonomy(names, (-1, 0), (0.0, 1.0))).are_whole == whole
