"""The first tables, and the triggers that refuse to change what was published."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

GUARDS = {
    "sqlite": (
        """CREATE TRIGGER cells_are_frozen BEFORE UPDATE OF
           id, k, latitude, longitude, cost, region_id, drawn, made ON cells
           BEGIN SELECT RAISE(ABORT, 'a published cell never changes'); END""",
        """CREATE TRIGGER cells_stay BEFORE DELETE ON cells
           BEGIN SELECT RAISE(ABORT, 'a published cell is never deleted'); END""",
        """CREATE TRIGGER batches_are_frozen BEFORE UPDATE OF id, k, homes, parent_id ON batches
           BEGIN SELECT RAISE(ABORT, 'a batch never changes'); END""",
        """CREATE TRIGGER batches_stay BEFORE DELETE ON batches
           BEGIN SELECT RAISE(ABORT, 'a batch is never deleted'); END""",
    ),
    "postgresql": (
        """CREATE FUNCTION shoal_frozen() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'what was published never changes'; END $$""",
        """CREATE TRIGGER cells_are_frozen BEFORE UPDATE OF
           id, k, latitude, longitude, cost, region_id, drawn, made ON cells
           FOR EACH ROW EXECUTE FUNCTION shoal_frozen()""",
        """CREATE TRIGGER cells_stay BEFORE DELETE ON cells FOR EACH ROW EXECUTE FUNCTION shoal_frozen()""",
        """CREATE TRIGGER batches_are_frozen BEFORE UPDATE OF id, k, homes, parent_id ON batches
           FOR EACH ROW EXECUTE FUNCTION shoal_frozen()""",
        """CREATE TRIGGER batches_stay BEFORE DELETE ON batches FOR EACH ROW EXECUTE FUNCTION shoal_frozen()""",
    ),
}


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "audit",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("action", sa.String(length=50), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_table(
        "batches",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("k", sa.Integer(), nullable=False),
        sa.Column("homes", sa.Integer(), nullable=False),
        sa.Column("parent_id", NUMBER, nullable=True),
        sa.Column("split", sa.Boolean(), nullable=False),
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["parent_id"], ["batches.id"], name="fk_batches_parent_id"),
        sa.PrimaryKeyConstraint("id", name="pk_batches"),
    )
    op.create_index("ix_batches_parent_id", "batches", ["parent_id"], unique=False)
    op.create_table(
        "classes",
        sa.Column("k", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("drawn_with", sa.Integer(), nullable=False),
        sa.Column("kept_with", sa.Integer(), nullable=False),
        sa.Column("places", sa.Integer(), nullable=False),
        sa.Column("drawing", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("k", name="pk_classes"),
    )
    op.create_table(
        "operators",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_operators"),
        sa.UniqueConstraint("digest", name="uq_operators_digest"),
    )
    op.create_table(
        "principals",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("invitation", sa.LargeBinary(length=32), nullable=False),
        sa.Column("devices_left", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_principals"),
        sa.UniqueConstraint("invitation", name="uq_principals_invitation"),
    )
    op.create_table(
        "regions",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("k", sa.Integer(), nullable=False),
        sa.Column("devices", sa.Integer(), nullable=False),
        sa.Column("loss", sa.Float(), nullable=False),
        sa.Column("kilometres", sa.Float(), nullable=False),
        sa.Column("drift", sa.Float(), nullable=False),
        sa.Column("changes", sa.Integer(), nullable=False),
        sa.Column("looked", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_regions"),
    )
    op.create_table(
        "requests",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("k", sa.Integer(), nullable=True),
        sa.Column("asked_by", sa.String(length=200), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_requests"),
    )
    op.create_table(
        "service",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("change", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_service"),
    )
    op.create_table(
        "cells",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("k", sa.Integer(), nullable=False),
        sa.Column("latitude", sa.Float(), nullable=False),
        sa.Column("longitude", sa.Float(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=False),
        sa.Column("region_id", NUMBER, nullable=False),
        sa.Column("drawn", sa.Integer(), nullable=False),
        sa.Column("made", sa.BigInteger(), nullable=False),
        sa.Column("retired", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["region_id"], ["regions.id"], name="fk_cells_region_id"),
        sa.PrimaryKeyConstraint("id", name="pk_cells"),
    )
    op.create_index("ix_cells_made", "cells", ["made"], unique=False)
    op.create_index("ix_cells_region_id", "cells", ["region_id"], unique=False)
    op.create_index("ix_cells_retired", "cells", ["retired"], unique=False)
    op.create_table(
        "atoms",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("k", sa.Integer(), nullable=False),
        sa.Column("cell_id", NUMBER, nullable=True),
        sa.Column("parent_id", NUMBER, nullable=True),
        sa.Column("formed", sa.Integer(), nullable=False),
        sa.Column("left", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["cell_id"], ["cells.id"], name="fk_atoms_cell_id"),
        sa.ForeignKeyConstraint(["parent_id"], ["atoms.id"], name="fk_atoms_parent_id"),
        sa.PrimaryKeyConstraint("id", name="pk_atoms"),
    )
    op.create_index("ix_atoms_cell_id", "atoms", ["cell_id"], unique=False)
    op.create_index("ix_atoms_parent_id", "atoms", ["parent_id"], unique=False)
    op.create_table(
        "cell_batches",
        sa.Column("cell_id", NUMBER, nullable=False),
        sa.Column("batch_id", NUMBER, nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batches.id"], name="fk_cell_batches_batch_id"),
        sa.ForeignKeyConstraint(["cell_id"], ["cells.id"], name="fk_cell_batches_cell_id"),
        sa.PrimaryKeyConstraint("cell_id", "batch_id", name="pk_cell_batches"),
    )
    op.create_table(
        "atom_cells",
        sa.Column("atom_id", NUMBER, nullable=False),
        sa.Column("step", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("cell_id", NUMBER, nullable=False),
        sa.ForeignKeyConstraint(["atom_id"], ["atoms.id"], name="fk_atom_cells_atom_id"),
        sa.ForeignKeyConstraint(["cell_id"], ["cells.id"], name="fk_atom_cells_cell_id"),
        sa.PrimaryKeyConstraint("atom_id", "step", name="pk_atom_cells"),
    )
    op.create_table(
        "devices",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("principal_id", NUMBER, nullable=False),
        sa.Column("k", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("place", sa.LargeBinary(length=16), nullable=False),
        sa.Column("key", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("atom_id", NUMBER, nullable=True),
        sa.Column("batch_id", NUMBER, nullable=True),
        sa.Column("waits_for", NUMBER, nullable=True),
        sa.ForeignKeyConstraint(["atom_id"], ["atoms.id"], name="fk_devices_atom_id"),
        sa.ForeignKeyConstraint(["batch_id"], ["batches.id"], name="fk_devices_batch_id"),
        sa.ForeignKeyConstraint(["principal_id"], ["principals.id"], name="fk_devices_principal_id"),
        sa.ForeignKeyConstraint(["waits_for"], ["cells.id"], name="fk_devices_waits_for"),
        sa.PrimaryKeyConstraint("id", name="pk_devices"),
        sa.UniqueConstraint("digest", name="uq_devices_digest"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_devices_atom_id", "devices", ["atom_id"], unique=False)
    op.create_index("ix_devices_batch_id", "devices", ["batch_id"], unique=False)
    op.create_index("ix_devices_principal_id", "devices", ["principal_id"], unique=False)
    op.create_index("ix_devices_waits_for", "devices", ["waits_for"], unique=False)
    for statement in GUARDS[op.get_bind().dialect.name]:
        op.execute(statement)


def downgrade() -> None:
    """There is nothing before it."""
    raise NotImplementedError("there is no older form of the tables")
