"""Which records belong together while edges come in: union-find, the leader of a component standing for it."""

from shoal.kernels.compiled import Array, inner


@inner
def find(leader: Array, i: int) -> int:
    """The leader of the component of i; shortens the way there."""
    while leader[i] != i:
        leader[i] = leader[leader[i]]
        i = leader[i]
    return i


@inner
def join(leader: Array, size: Array, a: int, b: int) -> int:
    """Makes one component of those led by a and b; the larger one's leader leads and is returned."""
    if size[a] < size[b]:
        a, b = b, a
    leader[b] = a
    size[a] += size[b]
    return a
