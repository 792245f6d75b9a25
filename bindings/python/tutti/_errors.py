"""The exceptions of Tutti."""


class Error(RuntimeError):
    """A call of Tutti failed. `status` is the value of tutti_status, `code` what a function of MPI returned (else 0)."""

    status = 6
    code = 0

    def __init__(self, *args, code=0):
        super().__init__(*args)
        self.code = code


class ArgumentError(Error, ValueError):
    """A call that cannot be carried out as given. Nothing has happened, and the communicator can be used on."""

    status = 1


class TypeArgumentError(ArgumentError, TypeError):
    """An argument of a type, or an array of elements, that Tutti does not take."""


class StateError(Error):
    """An object used where it must not be: closed, after MPI_Finalize, already started."""

    status = 2


class MpiError(Error):
    """A function of MPI failed; `code` is what it returned."""

    status = 3


class OutOfMemoryError(Error, MemoryError):
    """The host has no memory left."""

    status = 4


class FailedError(Error):
    """A message failed, another rank called with other arguments, or a device failed. The communicator is unusable."""

    status = 5


BY_STATUS = {kind.status: kind for kind in (ArgumentError, StateError, MpiError, OutOfMemoryError, FailedError, Error)}
