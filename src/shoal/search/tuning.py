"""The numbers that `Refined` searches with; docs/methods/refined.md says on which data each was chosen."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """What was found by trying. Nothing here decides what is valid, only how fast it gets good.

    Where a number depends on k, it is a tuple with one number for each range of k.
    """

    # Exchanges
    sweeps: int = 4  # rounds of exchanges, at most
    passes: int = 20  # of chains and cycles at the end of a search, at most

    # Annealing
    region: int = 5_000  # records that are annealed together
    annealed: int = 200_000  # records beyond which the default is exchanges alone
    largest_k: int = 1_000  # whose groups are rebuilt: beyond, that would be seldom
    searches: int = 2  # of one region at a time
    rebuilt: int = 8  # neighbouring groups that are rebuilt together, at most
    room: int = 2_400  # records of those, at most, unless two groups have more
    rebuilds: int = 1_500  # of the first round, per record, divided by the square of k
    rebuilds_k: int = 20  # the k from which that stays as it is: a millisecond per record
    least_rebuilds: int = 1_500  # of a round, divided by k from k = 8 on
    growth: int = 4  # how many times longer than the one before a round is
    growing: int = 3  # rounds that are longer than the one before
    hot: float = 0.3  # of what a group costs: the heat at first
    cold: tuple[float, float, float] = (0.02, 0.005, 0.0005)  # of that: the heat in the end; k to 4, to 19, beyond
    noisy_k: int = 40  # the least k at which a search begins with what the noisy rounds of PCL give
    seconds: float = 1e-3  # of a round, per record, where time is limited
    last: float = 0.97  # the part of what is left that the last round takes

    # Annealing that is cut short
    brief: float = 0.1  # of the usual length: below, one round of exchanges ends a search,
    brief_hot: float = 0.3  # and the heat at first is this part of the usual
    chained_k: int = 20  # the k from which chains gain next to nothing

    # Recombination
    recent: int = 8  # partitions that are combined: the last that searches ended with
    few: int = 100  # records up to which those on the way are combined too
    snapshots: int = 40  # of a search: partitions on the way
    combined: float = 0.1  # the part of what is left that this takes at most, or a second

    # Prices
    priced_from: tuple[float, float] = (20.0, 200.0)  # seconds for each region; k to 4, to 6
    annealed_first: tuple[float, float] = (0.35, 0.6)  # the part of the time before that; k to 4, to 6
    priced: float = 0.5  # the part of what is left then that prices take,
    chosen: tuple[float, float] = (0.9, 0.7)  # and they with integer programming; less than a minute, more
    cooler: float = 1 / 30  # of the heat, after that: there is little left to gain
    chosen_again: float = 0.4  # the part of what is left then that integer programming takes after a round
    chosen_from: int = 12  # groups for each record that it chooses from then

    def cold_at(self, k: int) -> float:
        """The heat in the end, as a part of that at first."""
        return self.cold[(k > 4) + (k >= 20)]

    def rebuilds_of(self, n: int, k: int) -> float:
        """How many groups the first round rebuilds."""
        least = self.least_rebuilds if k < 8 else self.least_rebuilds / k
        return max(self.rebuilds * n / min(k, self.rebuilds_k) ** 2, least)

    def ending(self, k: int, effort: float) -> tuple[int | None, int | None]:
        """The rounds of exchanges and of chains that end a search cut short; None where it is not."""
        if effort >= 1.0:
            return None, None
        return (
            1 if effort < self.brief else self.sweeps,
            0 if k >= self.chained_k else round(self.passes * effort**1.5),
        )

    def rebuilt_at(self, k: int) -> int:
        """How many groups are rebuilt together, at most."""
        return max(2, min(self.rebuilt, self.room // (2 * k - 1)))
