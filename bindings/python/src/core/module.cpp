// The module _core: everything that needs MPI.

#include "call.hpp"
#include "numpy.hpp"
#include "process.hpp"

NB_MODULE(_core, module) {
  namespace nb = nanobind;
  using namespace tutti::python;
  // Requests of a program that ends live as long as its modules: no leaks worth a word.
  nb::set_leak_warnings(false);
  module.doc() = "What needs MPI: loaded by tutti at first use.";
  static_cast<void>(NumPy::get());
  nb::class_<InPlace>(module, "InPlace", "The type of IN_PLACE.")
      .def("__repr__", [](nb::handle) { return "tutti.IN_PLACE"; })
      .def("__reduce__", [](nb::handle) { return "IN_PLACE"; });  // there is one, also of copies
  InPlace::object = nb::cast(InPlace{}).release();
  module.attr("IN_PLACE") = InPlace::object;
  bind_process(module);
  bind_op(module);
  bind_requests(module);
  CommunicatorClass communicator = bind_communicator(module);
  bind_collectives(communicator);
  bind_messages(module, communicator);
  bind_array_reductions(module);
  bind_compression(module);
  bind_memory(module);
}
