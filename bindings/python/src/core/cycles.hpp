#pragma once
// Objects that keep others alive take part in Python's search for cycles of garbage: a model that has an operation made
// of its own method, an array that has the request which writes it.

#include <nanobind/nanobind.h>

#include <array>
#include <type_traits>

namespace tutti::python {

template <class T>
int visit_of(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nanobind::inst_ready(self) ? nanobind::inst_ptr<T>(self)->visit(visit, arg) : 0;
}

template <class T>
int clear_of(PyObject* self) {
  if (nanobind::inst_ready(self)) nanobind::inst_ptr<T>(self)->clear();
  return 0;
}

/// Finishes an object before anything in the cycle is cleared.
template <class T>
void finish_of(PyObject* self) {
  if (nanobind::inst_ready(self)) nanobind::inst_ptr<T>(self)->finish();
}

/// The slots for nb::class_. T has visit(visitproc, void*) and clear(); finish(), if what it does needs the others.
template <class T>
nanobind::type_slots in_cycles() {
  static std::array<PyType_Slot, 4> slots{
      {{Py_tp_traverse, reinterpret_cast<void*>(&visit_of<T>)}, {Py_tp_clear, reinterpret_cast<void*>(&clear_of<T>)}}};
  if constexpr (requires(T & object) { object.finish(); })
    slots[2] = {Py_tp_finalize, reinterpret_cast<void*>(&finish_of<T>)};
  return {slots.data()};
}

}  // namespace tutti::python
