#pragma once
// What functions return, and the text of the last error.

#include "tutti/c/export.h"

typedef enum tutti_status {
  TUTTI_SUCCESS = 0,
  /// A call that cannot be carried out as given: nothing has happened, and the communicator can be used on.
  TUTTI_ERROR_ARGUMENT = 1,
  /// A handle used where it must not be: closed, after MPI_Finalize, already started.
  TUTTI_ERROR_STATE = 2,
  TUTTI_ERROR_MPI = 3,     ///< A function of MPI failed: tutti_last_mpi_code().
  TUTTI_ERROR_MEMORY = 4,  ///< The host has no memory left.
  TUTTI_ERROR_FAILED = 5,  ///< A message failed, or another rank called with other arguments, or a device failed.
  TUTTI_ERROR_OTHER = 6    ///< None of these: an error of Tutti.
} tutti_status;

/// What a status means, in a few words: "wrong argument". Takes any number.
TUTTI_C_API const char* tutti_error_string(int status);

/// The full text of the error of this thread's last call that failed: which argument, what was given, what is allowed,
/// on which rank. "" if none has failed. Successful calls keep it. It is valid until the thread's next failing call.
TUTTI_C_API const char* tutti_last_error(void);

/// What the function of MPI returned if that error was TUTTI_ERROR_MPI; otherwise MPI_SUCCESS.
TUTTI_C_API int tutti_last_mpi_code(void);
