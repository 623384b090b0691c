"""What the service says when it cannot do what it was asked."""

from shoal.errors import ShoalError


class LocationsError(ShoalError):
    """Anything that the service refuses."""


class UnknownError(LocationsError):
    """A credential, invitation or key that nobody has; which of these it was is not said."""

    def __init__(self) -> None:
        super().__init__("this credential is not known")


class RefusedError(LocationsError):
    """A value that cannot be taken; the line says which and what is allowed."""


class BusyError(LocationsError):
    """The database was locked for too long; the same request may be sent again."""

    def __init__(self) -> None:
        super().__init__("the service is busy; send the same request again")
