"""How migrations run: on the connection of whoever opens the database, in its transaction."""

from alembic import context

from shoal.locations.schema import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True
)
context.run_migrations()
