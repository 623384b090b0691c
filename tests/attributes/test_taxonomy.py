import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from shoal.attributes.taxonomy import Edge, Taxonomy
from shoal.errors import ShoalError
from trees import coded, taxonomies


def shown(taxonomy):
    """Each node with its parent."""
    names = taxonomy.nodes
    return {name: names[up] if up >= 0 else None for name, up in zip(names, taxonomy.parents, strict=True)}


def test_edges_in_any_order_become_a_tree_whose_nodes_stand_before_what_is_below_them():
    made = Taxonomy.of_edges([Edge("c", "b", 3.0), Edge("d", "a"), Edge("b", "a", 2.0), Edge("e", "b")])
    assert made == Taxonomy(("a", "d", "b", "c", "e"), (-1, 0, 0, 2, 2), (0.0, 1.0, 2.0, 3.0, 1.0))


def test_a_taxonomy_comes_back_from_json():
    made = Taxonomy.of_edges([Edge("b", "a", 0.1)])
    assert Taxonomy.from_dict(json.loads(json.dumps(made.as_dict()))) == made


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ([], "the taxonomy is empty"),
        (["ab", "ba"], "the taxonomy goes in a circle: 'a' is below 'b' is below 'a'; take one of these out"),
        (["aa"], "in a circle: 'a' is below 'a'"),
        (["ab", "cd", "dc"], "in a circle: 'c' is below 'd' is below 'c'"),
        (["ab", "cd"], "the taxonomy has 2 roots: 'b', 'd'; put them under one node"),
        (["ab", "ac"], "has 'a' in two places, below 'b' and below 'c'"),
        (["ab", "ab"], "has 'a' twice below 'b'; list it once"),
        (["a.", "a."], "has 'a' twice at the top"),
        (["a.", "ab"], "has 'a' both as its root and below 'b'"),
    ],
)
def test_what_is_no_tree_is_an_error_that_names_the_nodes(edges, said):
    with pytest.raises(ShoalError, match="^[^\n]*$") as error:
        Taxonomy.of_edges(Edge(child, None if parent == "." else parent) for child, parent in edges)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("nodes", "parents", "lengths"),
    [
        ((), (), ()),
        (("a",), (-1, 0), (0.0, 1.0)),
        (("a", "b"), (-1, 1), (0.0, 1.0)),
        (("a", "b"), (0, 0), (0.0, 1.0)),
        (("a", "a"), (-1, 0), (0.0, 1.0)),
        (("a", ""), (-1, 0), (0.0, 1.0)),
        (("a", "b"), (-1, 0), (0.0, 0.0)),
        (("a", "b"), (-1, 0), (0.0, float("nan"))),
    ],
)
def test_a_taxonomy_that_is_none_cannot_be_made(nodes, parents, lengths):
    with pytest.raises(ShoalError):
        Taxonomy(nodes, parents, lengths)


def test_a_chain_of_many_nodes_is_a_tree_too():
    made = Taxonomy.of_edges(Edge(str(i + 1), str(i)) for i in range(20_000))
    assert len(made.nodes) == 20_001
    assert made.among(["7", "19000"]) == Taxonomy(("7", "19000"), (-1, 0), (0.0, 18_993.0))


def test_codes_stand_below_their_beginnings():
    made = Taxonomy.of_prefixes(["I10.15", "I10.1", "I11", "E2", "E"], (1, 3, 5))
    assert shown(made) == {
        "*": None, "E": "*", "E2": "E", "I": "*", "I10": "I", "I10.1": "I10", "I10.15": "I10.1", "I11": "I",
    }  # fmt: skip
    assert set(made.lengths) == {0.0, 1.0}


def test_every_character_of_a_code_counts():
    assert shown(Taxonomy.of_prefixes(["I10.15"], (4,))) == {"*": None, "I10.": "*", "I10.15": "I10."}


def test_a_code_that_is_a_star_is_the_root_of_the_beginnings():
    assert shown(Taxonomy.of_prefixes(["*", "*b", "a"], (1,))) == {"*": None, "*b": "*", "a": "*"}


@pytest.mark.parametrize("lengths", [(), (0, 1), (3, 1), (2, 2), (-1,)])
def test_lengths_of_beginnings_must_rise(lengths):
    with pytest.raises(ShoalError, match="whole numbers that rise, such as 1,3,5, not"):
        Taxonomy.of_prefixes(["a"], lengths)


@given(st.lists(st.text("ab.", min_size=1, max_size=5), min_size=1), st.sets(st.integers(1, 5), min_size=1))
def test_the_order_of_the_codes_does_not_matter(codes, lengths):
    made = Taxonomy.of_prefixes(codes, sorted(lengths))
    assert made == Taxonomy.of_prefixes(reversed(codes), sorted(lengths))
    for name, up in shown(made).items():
        assert up is None or up == "*" or name.startswith(up)
    assert set(codes) <= set(made.nodes)


@given(coded())
def test_what_is_needed_of_a_taxonomy_keeps_all_path_lengths(drawn):
    whole, codes = drawn
    small = whole.among(codes)
    for a in set(codes):
        for b in set(codes):
            length = naive.path_length(whole.parents, whole.lengths, whole.nodes.index(a), whole.nodes.index(b))
            again = naive.path_length(small.parents, small.lengths, small.nodes.index(a), small.nodes.index(b))
            assert again == pytest.approx(length, rel=1e-12)


@given(coded())
def test_what_is_needed_of_a_taxonomy_is_codes_and_meetings_only(drawn):
    whole, codes = drawn
    number = whole.nodes.index
    meetings = {whole.nodes[naive.meeting(whole.parents, number(a), number(b))] for a in codes for b in codes}
    small = whole.among(codes)
    assert set(small.nodes) == meetings
    for node, parent in enumerate(small.parents[1:], 1):
        assert parent in naive.way_up(small.parents, node - 1)  # all below a node comes right after it


@given(taxonomies())
def test_a_taxonomy_whose_nodes_are_all_codes_stays_whole(whole):
    assert shown(whole.among(whole.nodes)) == shown(whole)
