"""The seven promises of a service, each with the one query that finds whatever breaks it.

The queries read the tables alone, not the code that filled them: they hold for a database after a crash, from a
backup, or changed by hand. What they find is a row for each breach.
"""

from dataclasses import dataclass

import sqlalchemy as sa

from shoal.locations.database import Database
from shoal.locations.policy import Policy
from shoal.locations.schema import service

_SHARING = """
    SELECT cells.id AS cell, cells.k AS k, cells.drawn AS drawn,
           COUNT(DISTINCT devices.principal_id) AS principals, COUNT(DISTINCT devices.place) AS places
    FROM cells LEFT JOIN atoms ON atoms.cell_id = cells.id LEFT JOIN devices ON devices.atom_id = atoms.id
    WHERE cells.retired IS NULL GROUP BY cells.id, cells.k, cells.drawn"""


@dataclass(frozen=True)
class Promise:
    """A promise in words, and the query whose rows would break it."""

    name: str
    sentence: str
    query: str


PROMISES = (
    Promise(
        "k at every moment",
        "Every centroid that is handed out is shared by live devices of at least k distinct principals.",
        f"SELECT cell FROM ({_SHARING}) AS sharing WHERE principals < k",
    ),
    Promise(
        "no differencing",
        "Homes enter and leave the sums behind centroids only in batches of at least k principals.",
        """SELECT id FROM batches WHERE homes < k
           UNION ALL SELECT devices.id FROM devices LEFT JOIN batches ON batches.id = devices.batch_id
               WHERE devices.batch_id IS NOT NULL
               AND (batches.id IS NULL OR batches.split OR batches.k <> devices.k)
           UNION ALL SELECT cell_batches.cell_id FROM cell_batches
               JOIN cells ON cells.id = cell_batches.cell_id JOIN batches ON batches.id = cell_batches.batch_id
               WHERE batches.k <> cells.k OR cell_batches.weight < 1
           UNION ALL SELECT part.id FROM batches AS part JOIN batches AS whole ON whole.id = part.parent_id
               WHERE whole.k <> part.k OR NOT whole.split""",
    ),
    Promise(
        "reciprocity",
        "All devices of a cell get the same centroid, and share it only with devices of their own class.",
        """SELECT devices.id FROM devices JOIN atoms ON atoms.id = devices.atom_id
               LEFT JOIN cells ON cells.id = atoms.cell_id
               WHERE atoms.k <> devices.k
               OR (atoms.cell_id IS NOT NULL AND (cells.k <> devices.k OR cells.retired IS NOT NULL))""",
    ),
    Promise(
        "history",
        "Devices that had the same cells in all epochs are at least k principals, but for cancellations.",
        """SELECT atoms.id FROM atoms WHERE atoms.formed < atoms.k
           UNION ALL SELECT atoms.id FROM atoms LEFT JOIN devices ON devices.atom_id = atoms.id
               WHERE NOT EXISTS (SELECT 1 FROM atoms AS part WHERE part.parent_id = atoms.id)
               GROUP BY atoms.id, atoms.formed, atoms."left"
               HAVING COUNT(DISTINCT devices.principal_id) + atoms."left" < atoms.formed
           UNION ALL SELECT atoms.id FROM atoms WHERE atoms.cell_id IS NOT NULL AND atoms.cell_id <> (
               SELECT past.cell_id FROM atom_cells AS past WHERE past.atom_id = atoms.id
               ORDER BY past.step DESC LIMIT 1)
           UNION ALL SELECT part.id FROM atoms AS part JOIN atom_cells AS past ON past.atom_id = part.parent_id
               LEFT JOIN atom_cells AS own ON own.atom_id = part.id AND own.step = past.step
               WHERE own.cell_id IS NULL OR own.cell_id <> past.cell_id""",
    ),
    Promise(
        "slack",
        "Cells are drawn with more than k principals, and merged before one has fewer.",
        f"""SELECT cell FROM ({_SHARING}) AS sharing JOIN classes ON classes.k = sharing.k
            WHERE sharing.drawn < classes.drawn_with OR (sharing.principals < classes.kept_with AND EXISTS (
                SELECT 1 FROM cells AS other
                WHERE other.k = sharing.k AND other.retired IS NULL AND other.id <> sharing.cell))""",
    ),
    Promise(
        "places",
        "Every cell has at least the distinct places that were asked for, not only devices.",
        f"""SELECT cell FROM ({_SHARING}) AS sharing JOIN classes ON classes.k = sharing.k
            WHERE sharing.places < classes.places""",
    ),
    Promise(
        "nothing before k",
        "A class gives no centroid before k principals have asked for it, nor after fewer are left.",
        """SELECT cells.id FROM cells LEFT JOIN (
               SELECT devices.k AS k, COUNT(DISTINCT devices.principal_id) AS principals
               FROM devices GROUP BY devices.k) AS asked ON asked.k = cells.k
           WHERE cells.retired IS NULL
           AND (cells.drawn < cells.k OR asked.principals IS NULL OR asked.principals < cells.k)""",
    ),
)


@dataclass(frozen=True)
class Finding:
    """Whether a promise holds: the rows that break it, or that the operator has switched it off."""

    promise: Promise
    broken: tuple[int, ...]
    on: bool = True

    @property
    def holds(self) -> bool:
        """No row breaks it, and it is promised at all."""
        return self.on and not self.broken

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        if not self.on:
            return f"{self.promise.name}: switched off by the operator of this service"
        if not self.broken:
            return f"{self.promise.name}: holds. {self.promise.sentence}"
        some = ", ".join(map(str, self.broken[:10])) + (" and more" if len(self.broken) > 10 else "")
        return f"{self.promise.name}: BROKEN by {len(self.broken)} rows ({some}). {self.promise.sentence}"


def check(database: Database) -> list[Finding]:
    """Every promise against the database, all of them at one moment."""
    with database.read() as connection:
        policy = Policy.from_json(connection.execute(sa.select(service.c.policy)).scalar_one())
        findings = []
        for promise in PROMISES:
            on = policy.history or promise.name != "history"
            rows = connection.execute(sa.text(promise.query)).scalars().all() if on else ()
            findings.append(Finding(promise, tuple(rows), on))
        return findings
