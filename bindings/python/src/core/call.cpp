#include "call.hpp"

#include <nanobind/stl/string.h>

#include <utility>

#include "numpy.hpp"

namespace tutti::python {

nb::handle InPlace::object;

void* stream_of(nb::handle stream, const char* function) {
  nb::object number;
  if (PyLong_Check(stream.ptr()))
    number = nb::borrow(stream);
  else if (nb::hasattr(stream, "__cuda_stream__"))
    number = nb::object(stream.attr("__cuda_stream__")()[1]);
  else if (nb::hasattr(stream, "cuda_stream"))
    number = stream.attr("cuda_stream");
  else
    raise("TypeArgumentError", std::string{function} + ": stream is " + in_words(stream) +
                                   "; give an int, or an object with __cuda_stream__");
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(integer_of(number, function, "stream", 0)));
}

void Call::refuse_here(const std::string& text) const { refuse(std::string{function_} + ": " + text); }

void Call::set_options(nb::handle algorithm, nb::handle stream, nb::handle bits) {
  if (!algorithm.is_none()) {
    algorithm_ = text_of(algorithm, function_, "algorithm");
    options_.algorithm = algorithm_.c_str();
    has_options_ = true;
  }
  if (!bits.is_none()) {
    bits_ = text_of(bits, function_, "bits");
    options_.bits = bits_.c_str();
    has_options_ = true;
  }
  if (stream.is_none()) return;
  if (form_ == Form::nonblocking)
    refuse_here("nonblocking calls take no stream; the blocking call with a stream returns at once");
  options_.stream = stream_of(stream, function_);
  options_.has_stream = 1;
  stream_ =
      options_.stream == nullptr ? 1 : reinterpret_cast<std::intptr_t>(options_.stream);  // 1: DLPack's legacy stream
  has_options_ = true;
}

void Call::set_sum(nb::handle accumulate, nb::handle rounding) {
  if (!accumulate.is_none()) {
    accumulate_ = text_of(accumulate, function_, "accumulate");
    options_.accumulate = accumulate_.c_str();
    has_options_ = true;
  }
  if (rounding.is_none()) return;
  rounding_ = text_of(rounding, function_, "rounding");
  options_.rounding = rounding_.c_str();
  has_options_ = true;
}

int64_t Call::take_in(nb::handle x) {
  if (is_in_place(x)) {
    call_.in = TUTTI_IN_PLACE;
    return -1;
  }
  kept_.in = take(x, argument("x", false));
  call_.in = kept_.in.data;
  call_.type = kept_.in.type;
  return kept_.in.count;
}

void Call::take_given_out(nb::handle out, int64_t count) {
  kept_.out = take(out, argument("out", true));
  const bool has_in = kept_.in.array.is_valid();
  if (has_in && kept_.out.type != call_.type)
    refuse_here(std::string{"out has elements of "} + name_of_type(kept_.out.type) + ", and x of " +
                name_of_type(call_.type));
  call_.type = kept_.out.type;
  if (count >= 0 && kept_.out.count != count)
    refuse_here("out has " + std::to_string(kept_.out.count) + " elements, and must have " + std::to_string(count));
  call_.out = kept_.out.data;
  kept_.returned = nb::borrow(out);
}

void Call::make_out(const std::vector<int64_t>& shape, bool zeros) {
  int64_t bytes = size_of_type(call_.type);
  for (const int64_t length : shape)
    if (length < 0 || __builtin_mul_overflow(bytes, length, &bytes))
      refuse_here("a new array would have " + std::to_string(length) + " elements");
  kept_.result = make_result(kept_.in, shape, argument("out", true), zeros);
  call_.out = kept_.result.buffer.data;
  kept_.returned = kept_.result.array;
}

void Call::take_data(nb::handle x, bool writes) {
  kept_.out = take(x, argument("x", writes));
  call_.in = kept_.out.data;
  call_.out = kept_.out.data;
  call_.type = kept_.out.type;
  call_.count = kept_.out.count;
  kept_.returned = nb::borrow(x);
}

void Call::take_op(nb::handle op) {
  call_.op = op_of(op, call_.type, function_, &kept_.function);
  if (kept_.function != nullptr) kept_.op = nb::borrow(op);
}

template <class Element, class Take>
const Element* Call::take_each(std::vector<Element>& list, nb::handle given, const char* name, const char* what,
                               const Take& take) const {
  list.reserve(static_cast<std::size_t>(size()));
  if (PySequence_Check(given.ptr()) == 0 || PyUnicode_Check(given.ptr()))
    raise("TypeArgumentError", std::string{function_} + ": " + name + " is " + in_words(given) +
                                   ", and no list of one " + what + " for each rank");
  for (const nb::handle each : given)
    list.push_back(take(each));
  if (list.size() != static_cast<std::size_t>(size()))
    refuse_here(std::string{name} + " has " + std::to_string(list.size()) + " " + what + "s, for " +
                std::to_string(size()) + " ranks");
  return list.data();
}

const int64_t* Call::take_list(nb::handle numbers, const char* name) {
  if (numbers.is_none()) return nullptr;
  std::size_t at = 0;
  return take_each(lists_.at(list_count_++), numbers, name, "number", [&](nb::handle number) {
    const std::string item = std::string{name} + "[" + std::to_string(at++) + "]";
    return integer_of(number, function_, PyLong_CheckExact(number.ptr()) ? name : item.c_str());
  });
}

const tutti_type* Call::take_types(nb::handle types, const char* name) {
  return take_each(types_.at(type_list_count_++), types, name, "type",
                   [&](nb::handle type) { return NumPy::get().type_given(type, function_, name); });
}

int64_t Call::share(int64_t whole, const char* of) const {
  if (whole % size() != 0)
    refuse_here(std::string{of} + " " + std::to_string(whole) + ", which " + std::to_string(size()) +
                " ranks do not divide");
  return whole / size();
}

std::vector<int64_t> Call::divided_shape() const {
  std::vector<int64_t> shape = kept_.in.shape();
  if (shape.empty()) refuse_here("x has no axes; the first is divided among the ranks");
  shape[0] = share(shape[0], "the first length of x is");
  return shape;
}

std::vector<int64_t> Call::joined_shape() const {
  std::vector<int64_t> shape = kept_.in.shape();
  if (shape.empty()) shape.push_back(1);
  shape[0] *= size();
  return shape;
}

nb::object Call::run() {
  if (form_ == Form::blocking) return run_blocking();
  kept_.communicator = nb::find(communicator_);
  tutti_status status = TUTTI_SUCCESS;
  if (form_ == Form::nonblocking) {
    tutti_request request = nullptr;
    {
      const nb::gil_scoped_release released;
      status = start_call(call_, list_, comm_, options(), &request);
    }
    if (status != TUTTI_SUCCESS) kept_.fail(status);
    return nb::cast(new Request(request, std::move(kept_)), nb::rv_policy::take_ownership);
  }
  tutti_plan plan = nullptr;
  {
    const nb::gil_scoped_release released;
    status = prepare_call(call_, list_, comm_, options(), &plan);
  }
  if (status != TUTTI_SUCCESS) kept_.fail(status);
  return nb::cast(new Plan(plan, std::move(kept_)), nb::rv_policy::take_ownership);
}

/// Blocking calls are nonblocking ones that are waited for: as fast, and signals can end the wait.
nb::object Call::run_blocking() {
  tutti_request request = nullptr;
  int is_complete = 0;
  tutti_status status = TUTTI_SUCCESS;
  {
    const nb::gil_scoped_release released;
    if (options_.has_stream != 0 || size() == 1) {  // nothing to wait for
      status = run_call(call_, list_, comm_, options());
      is_complete = 1;
    } else {
      status = start_call(call_, list_, comm_, options(), &request);
      if (status == TUTTI_SUCCESS) status = tutti_request_wait_for(&request, slice, &is_complete);
    }
  }
  return complete(communicator_, request, status, is_complete != 0, kept_, function_);
}

nb::object complete(Communicator& communicator, tutti_request request, tutti_status status, bool is_complete,
                    const Kept& kept, const char* function) {
  const auto give_back = [&] {
    const nb::gil_scoped_release released;
    if (request != nullptr) tutti_request_free(&request);
  };
  if (status == TUTTI_SUCCESS && !is_complete) {
    try {
      static_cast<void>(
          wait_in_slices([&](double s, int* c) { return tutti_request_wait_for(&request, s, c); }, -1, status));
    } catch (nb::python_error&) {
      communicator.abort(std::string{function} + " on rank " + std::to_string(communicator.rank()) +
                         " was interrupted by a signal");
      give_back();
      throw;
    }
  }
  if (status == TUTTI_SUCCESS) return kept.finished();
  nb::object cause = kept.function != nullptr ? kept.function->take_exception() : nb::object{};
  const nb::object exception = exception_of(status);
  give_back();
  if (cause.is_valid()) PyException_SetCause(exception.ptr(), cause.release().ptr());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

}  // namespace tutti::python
