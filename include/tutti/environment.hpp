#pragma once
// The parts that this build of Tutti is made of, and the libraries that it runs on.

#include <string>
#include <vector>

#include "tutti/export.hpp"

namespace tutti {

/// An optional or external part: "UCX", "off: UCX was not found (install libucx-dev)".
struct Component {
  std::string name, description;
};

/// The MPI library's own name and version in one short line, e.g. "Open MPI 4.1.4". Needs no MPI_Init.
[[nodiscard]] TUTTI_API std::string mpi_library();

/// Tutti's version, the MPI, and every optional part with its version or why it is missing. Needs no MPI_Init.
[[nodiscard]] TUTTI_API std::vector<Component> components();

}  // namespace tutti
