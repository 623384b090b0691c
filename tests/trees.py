"""Hypothesis strategies for taxonomies: chains, stars, deep and bushy trees, one node, uneven lengths."""

from hypothesis import strategies as st

from shoal.attributes.taxonomy import Taxonomy

PARENT = {
    "random": lambda draw, i: draw(st.integers(0, i - 1)),
    "deep": lambda draw, i: draw(st.integers(max(0, i - 2), i - 1)),
    "chain": lambda draw, i: i - 1,
    "star": lambda draw, i: 0,
}


@st.composite
def taxonomies(draw, most=14):
    """Nodes are numbered so that parents come first, but not always right before what is below them."""
    n = draw(st.integers(1, most))
    parent = PARENT[draw(st.sampled_from(sorted(PARENT)))]
    parents = (-1, *(parent(draw, i) for i in range(1, n)))
    length = draw(st.sampled_from([st.just(1.0), st.sampled_from([0.25, 1.0, 3.0]), st.floats(0.01, 100)]))
    return Taxonomy(tuple(f"n{i}" for i in range(n)), parents, (0.0, *(draw(length) for _ in range(1, n))))


@st.composite
def coded(draw, most=30):
    """A taxonomy, and records that have some of its nodes as codes."""
    taxonomy = draw(taxonomies())
    allowed = draw(st.lists(st.sampled_from(taxonomy.nodes), min_size=1, max_size=6))
    return taxonomy, draw(st.lists(st.sampled_from(allowed), min_size=1, max_size=most))


@st.composite
def grouped(draw, n):
    """The labels of n records in groups that all have some."""
    labels = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    numbers = {label: place for place, label in enumerate(sorted(set(labels)))}
    return [numbers[label] for label in labels]
