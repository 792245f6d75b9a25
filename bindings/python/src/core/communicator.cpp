#include "communicator.hpp"

#include <nanobind/stl/string.h>

#include <set>
#include <utility>
#include <vector>

#include "process.hpp"

namespace tutti::python {
namespace {

/// A setting of rank 0, or NULL. The text is kept in `keep`.
const char* setting(const nb::object& object, const char* name, std::vector<std::string>& keep) {
  if (object.is_none()) return nullptr;
  keep.push_back(text_of(object, "Communicator", name));
  return keep.back().c_str();
}

/// The number by which Fortran knows a communicator, which all MPIs have. Groups, datatypes and operations of mpi4py
/// have numbers, too, by which Fortran knows other communicators.
int number_of(const nb::object& comm) {
  if (PyLong_Check(comm.ptr()) && !PyBool_Check(comm.ptr())) return int_of(comm, "Communicator", "comm");
  if (!PyType_Check(comm.ptr()) && nb::hasattr(comm, "py2f") && nb::hasattr(comm, "Is_inter"))
    return int_of(comm.attr("py2f")(), "Communicator", "comm.py2f()");
  raise("TypeArgumentError", "Communicator: comm is " + in_words(comm) +
                                 "; give None, a communicator of mpi4py, or the number of a communicator in Fortran");
}

/// The communicators that exist. Under the GIL.
std::set<Communicator*>& all() {
  static auto* const communicators = new std::set<Communicator*>;  // the interpreter may end after static objects do
  return *communicators;
}

nb::list list_of(const tutti_group& group) {
  nb::list ranks;
  for (int i = 0; i < group.count; ++i)
    ranks.append(group.ranks[i]);
  return ranks;
}

nb::dict counters_of(const Communicator& self) {
  const tutti_counter* counters = nullptr;
  int count = 0;
  tutti_comm comm = self.handle("counters");
  check_unlocked([&] { return tutti_comm_counters(comm, &counters, &count); });
  nb::dict found;
  for (int i = 0; i < count; ++i)
    found[counters[i].name] = counters[i].value;
  return found;
}

template <auto Function>
int number(const Communicator& self) {
  int value = 0;
  check(Function(self.handle("nodes"), &value));
  return value;
}

template <auto Function>
nb::list group(const Communicator& self) {
  tutti_group found{};
  check(Function(self.handle("node"), &found));
  return list_of(found);
}

}  // namespace

Communicator::Communicator(nb::object comm, const nb::object& algorithms, const nb::object& transport,
                           const nb::object& buffers, bool forms_match, const nb::object& rules,
                           const nb::object& bits) {
  require_same_process("Communicator");
  require_mpi();
  std::vector<std::string> keep;
  keep.reserve(5);
  tutti_comm_options options = TUTTI_COMM_OPTIONS_INIT;
  options.algorithms = setting(algorithms, "algorithms", keep);
  options.transport = setting(transport, "transport", keep);
  options.buffers = setting(buffers, "buffers", keep);
  options.forms_match = forms_match ? 1 : 0;
  options.rules = setting(rules, "rules", keep);
  options.bits = setting(bits, "bits", keep);
  const bool is_world = comm.is_none();
  const int number = is_world ? 0 : number_of(comm);
  check_unlocked([&] {
    return is_world ? tutti_comm_create(MPI_COMM_WORLD, &options, &handle_)
                    : tutti_comm_create_f(number, &options, &handle_);
  });
  check(tutti_comm_rank(handle_, &rank_));
  check(tutti_comm_size(handle_, &size_));
  all().insert(this);
}

/// In a child of a fork the library does nothing.
Communicator::~Communicator() {
  all().erase(this);
  if (handle_ == nullptr) return;
  const nb::gil_scoped_release released;
  tutti_comm_free(&handle_);
}

tutti_comm Communicator::handle(const char* function) const {
  if (is_child_of_fork()) require_same_process(function);
  if (handle_ == nullptr) raise("StateError", std::string{function} + ": the communicator is closed");
  return handle_;
}

void Communicator::close() {
  if (handle_ == nullptr) return;
  if (users_ != 0) raise("StateError", "close: a call on this communicator is under way");
  tutti_comm closed = std::exchange(handle_, nullptr);
  check_unlocked([&] { return tutti_comm_free(&closed); });
}

void Communicator::abort(const std::string& why) noexcept {
  if (handle_ == nullptr) return;
  const nb::gil_scoped_release released;
  tutti_comm_abort(handle_, why.c_str());
}

void Communicator::abort_all(const std::string& why) noexcept {
  for (Communicator* communicator : all())
    communicator->abort(why);
}

bool Communicator::is_open() const {
  int is_open = 0;
  if (handle_ != nullptr) check(tutti_comm_is_open(handle_, &is_open));
  return is_open != 0;
}

std::string Communicator::status() const {
  const char* text = nullptr;
  tutti_comm comm = handle("status");
  check_unlocked([&] { return tutti_comm_status(comm, &text); });
  return text;
}

std::string Communicator::in_words() const {
  const std::string place = std::to_string(rank_) + " of " + std::to_string(size_);
  return "<tutti.Communicator, rank " + place + (is_open() ? ">" : ", closed>");
}

CommunicatorClass bind_communicator(nb::module_& module) {
  CommunicatorClass communicator(
      module, "Communicator",
      "A group of MPI processes that calls Tutti's collectives. It is made from an MPI communicator, and independent "
      "of "
      "it\nafterwards: messages never mix with the program's own.\n\n"
      "comm: None (all ranks; MPI is initialised if nobody has done so), a communicator of mpi4py, or the number by "
      "which\nFortran knows one (comm.py2f()). algorithms: \"allreduce=ring,broadcast=chain/64K\"; transport: "
      "\"auto\", "
      "\"shm\", \"mpi\",\n\"ucx\", \"shm+ucx\"; buffers: \"auto\", \"host\", \"device\", \"tutti\"; forms_match: plans "
      "match "
      "other calls, too; rules: files of rules\nfor algorithms, or \"none\"; bits: \"same\", or \"fixed\": reductions "
      "whose bits depend on "
      "the number of ranks alone.\nThe settings of "
      "rank 0\ncount.\n\n"
      "Collective over comm. Calls are made in the same order on all ranks; one thread at a time calls. Errors: "
      "ArgumentError\n(no such communicator or setting), StateError (after MPI_Finalize; two MPIs in the process; a "
      "child of a fork). Cost: some\nten milliseconds for the first one, then less than one.");
  communicator
      .def(nb::init<nb::object, nb::object, nb::object, nb::object, bool, nb::object, nb::object>(),
           nb::arg("comm") = nb::none(), nb::arg("algorithms") = nb::none(), nb::arg("transport") = nb::none(),
           nb::arg("buffers") = nb::none(), nb::arg("forms_match") = false, nb::arg("rules") = nb::none(),
           nb::arg("bits") = nb::none())
      .def_prop_ro("rank", &Communicator::rank, "The number of this process, from 0.")
      .def_prop_ro("size", &Communicator::size, "The number of ranks.")
      .def_prop_ro("nodes", &number<tutti_comm_node_count>, "The number of nodes: groups of ranks that share memory.")
      .def_prop_ro("node", &group<tutti_comm_node>, "The ranks of this rank's node.")
      .def_prop_ro("leaders", &group<tutti_comm_leaders>, "The lowest rank of each node.")
      .def(
          "node_of",
          [](Communicator& self, nb::handle rank) {
            const Communicator::Use use{self};
            int node = 0;
            check(tutti_comm_node_of(self.handle("node_of"), int_of(rank, "node_of", "rank"), &node));
            return node;
          },
          nb::arg("rank").none(), "The number of a rank's node.")
      .def_prop_ro("counters", &counters_of,
                   "What this rank has done so far, by name, as \"shm.tutti_memory.get\": a dict. Cost: one dict.")
      .def_prop_ro("status", &Communicator::status, "Why the communicator cannot be used any more; \"\": it works.")
      .def_prop_ro("is_open", &Communicator::is_open)
      .def("close", &Communicator::close,
           "Completes the operations in flight; later calls raise StateError. May be repeated.")
      .def(
          "abort",
          [](Communicator& self, nb::handle why) {
            static_cast<void>(self.handle("abort"));
            self.abort(text_of(why, "abort", "why"));
          },
          nb::arg("why").none() = "aborted by the program",
          "Ends all operations in flight on this rank without waiting for other ranks: they raise FailedError with "
          "this "
          "text,\nand ranks that wait for this one are told. Later calls raise StateError.")
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__exit__",
          [](Communicator& self, nb::handle kind, nb::handle, nb::handle) {
            // Operations under way may need what this rank will not do now. They must not hide the exception.
            if (!kind.is_none()) self.abort("a block of this communicator was left by an exception");
            self.close();
          },
          nb::arg("kind").none(), nb::arg("value").none(), nb::arg("traceback").none(),
          "close(); after abort(), if an exception ends the block.")
      .def("__repr__", &Communicator::in_words);
  return communicator;
}

}  // namespace tutti::python
