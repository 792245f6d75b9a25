// The module that Python loads.
#include <torch/csrc/utils/pybind.h>

#include <pybind11/chrono.h>
#include <pybind11/stl.h>

#include "backend.cpp"
#include "messages.cpp"
#include "sparse.cpp"

namespace {

using namespace tutti_torch;

c10::intrusive_ptr<Backend> create(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                   const std::string& name, const c10::intrusive_ptr<GroupOptions>& options) {
  return c10::make_intrusive<Backend>(store, rank, size, name, options);
}

c10::intrusive_ptr<GroupOptions> make_options(const std::string& algorithms, const std::string& transport,
                                              const std::string& buffers, Milliseconds timeout) {
  auto options = c10::make_intrusive<GroupOptions>(timeout);
  options->algorithms = algorithms;
  options->transport = transport;
  options->buffers = buffers;
  return options;
}

/// Ends MPI if this module began it.
void finalize() {
  int is_initialized = 0, is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  if (initialized_here() && is_initialized != 0 && is_finalized == 0) MPI_Finalize();
}

/// A text of rank 0's for all ranks of the world.
std::string from_rank_0(std::string text) {
  require_mpi();
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(static_cast<size_t>(length));
  MPI_Bcast(text.data(), length, MPI_BYTE, 0, MPI_COMM_WORLD);
  return text;
}

std::pair<int, int> world() {
  require_mpi();
  std::pair<int, int> rank_and_size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_and_size.first);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_and_size.second);
  return rank_and_size;
}

/// Ctrl-C ends a wait of Python's main thread, which imports this module.
void heed_signals() {
  on_long_wait() = [main = std::this_thread::get_id()] {
    if (std::this_thread::get_id() != main) return;
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  };
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  heed_signals();
  using release = py::call_guard<py::gil_scoped_release>;
  py::class_<GroupOptions, c10d::Backend::Options, c10::intrusive_ptr<GroupOptions>>(module, "Options")
      .def(py::init(&make_options), py::arg("algorithms") = "", py::arg("transport") = "", py::arg("buffers") = "",
           py::arg("timeout") = Milliseconds(kBackendDefaultTimeout))
      .def_readwrite("algorithms", &GroupOptions::algorithms)
      .def_readwrite("transport", &GroupOptions::transport)
      .def_readwrite("buffers", &GroupOptions::buffers);
  py::class_<Backend, c10d::Backend, c10::intrusive_ptr<Backend>>(module, "Backend")
      .def("perform_nocolor_split", [](Backend&, const py::object&) {});  // members split alone
  module.def("create", &create, release());
  module.def("finalize", &finalize, release());
  module.def("from_rank_0", &from_rank_0, release());
  module.def("world", &world, release());
  module.def("mpi_library", [] {
    const char* name = "";
    check(tutti_mpi_library(&name));
    return std::string(name);
  });
}
