"""Triangles that a relaxed partition breaks: of a partition, X[i, j] + X[i, h] <= X[i, i] + X[j, h]."""

from shoal.kernels.compiled import Array, inner, kernel


@kernel
def broken_triangles(X: Array, near: Array, least: float, corners: Array, amounts: Array) -> int:
    """The triangles (i, j, h) that are broken by more than `least`; j and h are among near[i], j before h.

    Fills corners and amounts, as far as there is room, and returns how many.
    """
    found = 0
    for i in range(X.shape[0]):
        for p in range(near.shape[1]):
            j = near[i, p]
            for q in range(p + 1, near.shape[1]):
                h = near[i, q]
                amount = X[i, j] + X[i, h] - X[i, i] - X[j, h]
                if amount > least and j != i and h != i and found < amounts.size:
                    corners[found, 0], corners[found, 1], corners[found, 2] = i, j, h
                    amounts[found] = amount
                    found += 1
    return found


@inner
def add_fine(corner: Array, fine: float, costs: Array) -> None:
    """The fine of one triangle, half of it on either side of the diagonal."""
    i, j, h = corner[0], corner[1], corner[2]
    half = 0.5 * fine
    costs[i, j] += half
    costs[j, i] += half
    costs[i, h] += half
    costs[h, i] += half
    costs[j, h] -= half
    costs[h, j] -= half
    costs[i, i] -= fine


@kernel
def move_fines(X: Array, corners: Array, steps: Array, fines: Array, costs: Array) -> None:
    """Fines follow how much their triangles are broken, and never fall below 0; `costs` have them added."""
    for c in range(fines.size):
        i, j, h = corners[c, 0], corners[c, 1], corners[c, 2]
        amount = X[i, j] + X[i, h] - X[i, i] - X[j, h]
        fine = max(0.0, fines[c] + steps[c] * amount)
        add_fine(corners[c], fine - fines[c], costs)
        fines[c] = fine


@kernel
def add_fines(corners: Array, fines: Array, costs: Array) -> None:
    """The fine of each triangle, added to what pairs cost."""
    for c in range(fines.size):
        add_fine(corners[c], fines[c], costs)
