"""A bounded max-heap of (d2, record id): keeps the k smallest, the worst of them on top."""

from shoal.kernels.compiled import Array, inner


@inner
def worse(d2: Array, ids: Array, a: int, b: int) -> bool:
    """Whether entry a comes after entry b."""
    return d2[a] > d2[b] or (d2[a] == d2[b] and ids[a] > ids[b])


@inner
def swap(d2: Array, ids: Array, place: Array, a: int, b: int) -> None:
    """Exchange two entries."""
    d2[a], d2[b] = d2[b], d2[a]
    ids[a], ids[b] = ids[b], ids[a]
    place[a], place[b] = place[b], place[a]


@inner
def sift_down(d2: Array, ids: Array, place: Array, count: int) -> None:
    """Move the top entry down to its place."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= count:
            return
        if child + 1 < count and worse(d2, ids, child + 1, child):
            child += 1
        if not worse(d2, ids, child, at):
            return
        swap(d2, ids, place, at, child)
        at = child


@inner
def sift_up(d2: Array, ids: Array, place: Array, at: int) -> None:
    """Move an entry up to its place."""
    while at > 0:
        parent = (at - 1) >> 1
        if not worse(d2, ids, at, parent):
            return
        swap(d2, ids, place, at, parent)
        at = parent


@inner
def offer(
    d2: Array, ids: Array, place: Array, count: int, k: int, new_d2: float, new_id: int, new_place: int
) -> int:
    """Keeps the new entry if it is among the k smallest so far; returns how many are held."""
    if count < k:
        d2[count], ids[count], place[count] = new_d2, new_id, new_place
        sift_up(d2, ids, place, count)
        return count + 1
    if new_d2 < d2[0] or (new_d2 == d2[0] and new_id < ids[0]):
        d2[0], ids[0], place[0] = new_d2, new_id, new_place
        sift_down(d2, ids, place, count)
    return count


@inner
def sort_heap(d2: Array, ids: Array, place: Array, count: int) -> None:
    """Turns the heap's first `count` entries into ascending order."""
    for last in range(count - 1, 0, -1):
        swap(d2, ids, place, 0, last)
        sift_down(d2, ids, place, last)
