// The module _core: Tutti's C interface for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <tutti.h>

namespace nb = nanobind;

NB_MODULE(_core, module) {
  module.doc() = "What needs MPI: loaded by tutti at first use.";
  module.def("version", [] { return std::string{tutti_version()}; });
}
