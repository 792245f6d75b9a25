#pragma once
// The library that runs, and the parts that it was built with.

#include "tutti/c/types.h"

/// The version of the library, which TUTTI_VERSION of the headers has to be, up to the patch. "0.2.0".
TUTTI_C_API const char* tutti_version(void);
/// The version of the library in numbers.
TUTTI_C_API tutti_status tutti_version_numbers(int* major, int* minor, int* patch);

/// The MPI library's own name and version: "Open MPI 4.1.4". Needs no MPI_Init.
TUTTI_C_API tutti_status tutti_mpi_library(const char** name);

/// An optional or external part: "UCX", "off: UCX was not found (install libucx-dev)".
typedef struct tutti_component {
  const char* name;
  const char* description;
} tutti_component;
/// Tutti's version, the MPI, and every optional part. Needs no MPI_Init.
TUTTI_C_API tutti_status tutti_components(const tutti_component** components, int* count);
