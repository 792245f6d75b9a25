#include "process.hpp"

#include "communicator.hpp"

#include <dlfcn.h>
#include <link.h>
#include <nanobind/stl/string.h>
#include <pthread.h>

#include <string>
#include <vector>

namespace tutti::python {
namespace {

bool is_child = false;
bool is_ours = false;

std::string first_line(std::string text) {
  text = text.substr(0, text.find_first_of("\n\r"));
  return text.substr(0, text.find('\0'));
}

std::string own_mpi() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  return first_line(text);
}

/// Libraries of MPI that are loaded, as files.
int note_library(dl_phdr_info* info, std::size_t /*size*/, void* found) {
  const std::string path = info->dlpi_name;
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const char* prefix : {"libmpi.so", "libmpich.so", "libmpi_abi.so", "libmpi-", "libmpich-"})
    if (name.compare(0, std::string{prefix}.size(), prefix) == 0)
      static_cast<std::vector<std::string>*>(found)->push_back(path);
  return 0;
}

[[noreturn]] void refuse_second(const std::string& other, const std::string& whose) {
  raise("StateError", "two MPIs are in this process: Tutti uses " + own_mpi() + ", and " + whose + " uses " + other +
                          ". Their ranks do not know each other; install tutti and mpi4py for the same MPI");
}

void require_one_mpi() {
  const nb::dict modules = nb::borrow<nb::dict>(PyImport_GetModuleDict());
  if (modules.contains("mpi4py.MPI")) {
    const nb::object version = modules["mpi4py.MPI"].attr("Get_library_version")();
    const std::string other = first_line(nb::cast<std::string>(version));
    if (other != own_mpi()) refuse_second(other, "mpi4py");
  }
  std::vector<std::string> paths;
  dl_iterate_phdr(note_library, &paths);
  for (const std::string& path : paths) {
    void* const library = dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) continue;
    using Version = int (*)(char*, int*);
    const auto version = reinterpret_cast<Version>(dlsym(library, "MPI_Get_library_version"));
    char text[MPI_MAX_LIBRARY_VERSION_STRING > 8192 ? MPI_MAX_LIBRARY_VERSION_STRING : 8192] = {};
    int length = 0;
    if (version != nullptr) version(text, &length);
    dlclose(library);
    if (version != nullptr && first_line(text) != own_mpi()) refuse_second(first_line(text), path);
  }
}

void finalize() {
  if (is_child || !mpi_runs()) return;
  // Peers of a program that an exception ends would wait for it, and it for them.
  if (const nb::object kind = nb::getattr(nb::module_::import_("sys"), "last_type", nb::none()); !kind.is_none())
    Communicator::abort_all("the program ended by " +
                            nb::cast<std::string>(nb::getattr(kind, "__name__", nb::str("an exception"))));
  if (!is_ours) return;
  nb::gil_scoped_release released;
  MPI_Finalize();
}

}  // namespace

bool is_child_of_fork() { return is_child; }

void require_same_process(const char* function) {
  if (is_child)
    raise("StateError", std::string{function} +
                            ": this process is a child of a fork(), in which MPI and Tutti cannot "
                            "be used; start it by multiprocessing's spawn, or make it with mpirun");
}

bool mpi_runs() {
  int is_initialized = 0;
  int is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  return is_initialized != 0 && is_finalized == 0;
}

void require_mpi() {
  require_one_mpi();
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_finalized != 0) raise("StateError", "Communicator: MPI has been finalised");
  if (mpi_runs()) return;
  // The ranks of torchrun and of tutti.run, which no launcher of MPI has started.
  const nb::module_ pmi = nb::module_::import_("tutti._pmi");
  pmi.attr("join")(nb::arg("library") = own_mpi());
  int size = 0;
  {
    nb::gil_scoped_release released;
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  is_ours = true;
  pmi.attr("require_world")(size);
}

void bind_process(nb::module_& module) {
  pthread_atfork(nullptr, nullptr, [] { is_child = true; });
  module.def("_finalize", &finalize);
  nb::module_::import_("atexit").attr("register")(module.attr("_finalize"));
  module.def(
      "version", [] { return std::string{tutti_version()}; }, "The version of the library: \"0.2.0\".");
  module.def(
      "mpi_library",
      [] {
        const char* name = nullptr;
        check(tutti_mpi_library(&name));
        return std::string{name};
      },
      "The MPI that this package was built for, by name and version: \"Open MPI 4.1.4\". Needs no mpirun.");
  module.def(
      "components",
      [] {
        const tutti_component* components = nullptr;
        int count = 0;
        check(tutti_components(&components, &count));
        nb::dict found;
        for (int i = 0; i < count; ++i)
          found[components[i].name] = components[i].description;
        return found;
      },
      "The optional parts of the library, and why one is missing: a dict.");
}

}  // namespace tutti::python
