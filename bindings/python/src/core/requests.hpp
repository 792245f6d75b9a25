#pragma once
// Operations under way and prepared ones, and how Python waits for them.

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "communicator.hpp"
#include "op.hpp"
#include "result.hpp"

namespace tutti::python {

/// What an operation needs until it is over.
struct Kept {
  Buffer in, out;
  Result result;
  // Of a call of a list. Addresses stay.
  std::deque<Buffer> listed;
  std::vector<Result> listed_results;  ///< New arrays that the call returns, in their order.
  nb::object returned;                 ///< What the call returns; a result that is made at the end is not there yet.
  nb::object op, communicator;
  nb::object more;  ///< For a batch: the list of arrays of its messages.
  Op* function = nullptr;

  [[nodiscard]] nb::object finished() const;
  int visit(visitproc visit, void* arg) const {
    for (const nb::object* object :
         {&result.array, &result.namespace_of_immutable, &returned, &op, &communicator, &more})
      Py_VISIT(object->ptr());
    for (const Buffer* buffer : {&in, &out, &result.buffer})
      if (const int stop = buffer->visit(visit, arg); stop != 0) return stop;
    for (const Buffer& buffer : listed)
      if (const int stop = buffer.visit(visit, arg); stop != 0) return stop;
    for (const Result& each : listed_results) {
      Py_VISIT(each.array.ptr());
      Py_VISIT(each.namespace_of_immutable.ptr());
      if (const int stop = each.buffer.visit(visit, arg); stop != 0) return stop;
    }
    return 0;
  }
  /// Raises the error of a call; what a function of Python raised is its cause.
  [[noreturn]] void fail(tutti_status status) const;
};

/// Seconds between two looks at signals.
constexpr double slice = 0.05;

/// Repeats step(seconds, &is_complete), which waits with the GIL released, until the operation is over, or `limit`
/// seconds have passed (negative: never). False: it is not over. Raises what a handler of a signal raises.
template <class Step>
bool wait_in_slices(const Step& step, double limit, tutti_status& status, bool is_complete = false) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  for (int complete = is_complete ? 1 : 0; complete == 0;) {
    double seconds = slice;
    if (limit >= 0) seconds = std::min(slice, limit - std::chrono::duration<double>(Clock::now() - begin).count());
    {
      const nb::gil_scoped_release released;
      status = step(std::max(seconds, 0.0), &complete);
    }
    if (status != TUTTI_SUCCESS || complete != 0) return true;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (limit >= 0 && seconds <= 0) return false;
  }
  return true;
}

class Request {
 public:
  Request(tutti_request handle, Kept kept) : handle_(handle), kept_(std::move(kept)) {}
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request() { finish(); }

  bool test();
  nb::object wait(const nb::object& timeout);
  bool cancel();
  [[nodiscard]] nb::object result();
  [[nodiscard]] bool is_over() const { return handle_ == nullptr; }
  /// When nobody has it any more.
  void finish();
  int visit(visitproc visit, void* arg) const {
    Py_VISIT(value_.ptr());
    Py_VISIT(error_.ptr());
    return kept_.visit(visit, arg);
  }
  void clear() {
    if (handle_ == nullptr) value_ = error_ = nb::object{}, kept_ = Kept{};
  }

 private:
  /// One thread at a time.
  class Turn;
  void over(tutti_status status);
  void require_success();

  tutti_request handle_;
  Kept kept_;
  nb::object value_, error_;
  bool is_busy_ = false, is_cancelled_ = false;
};

class Plan {
 public:
  Plan(tutti_plan handle, Kept kept) : handle_(handle), kept_(std::move(kept)) {}
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() { finish(); }

  void start();
  nb::object wait(const nb::object& timeout);
  bool test();
  nb::object run();
  [[nodiscard]] std::string algorithm() const;
  [[nodiscard]] std::string explain() const;
  [[nodiscard]] nb::object out() const { return kept_.returned; }
  /// When nobody has it any more.
  void finish();
  int visit(visitproc visit, void* arg) const { return kept_.visit(visit, arg); }
  void clear() {
    if (handle_ == nullptr) kept_ = Kept{};
  }

 private:
  void require_usable(const char* function) const;
  nb::object completed(double limit, tutti_status status, bool is_complete);
  tutti_plan handle_;
  Kept kept_;
  bool is_busy_ = false;
};

void bind_requests(nb::module_& module);

}  // namespace tutti::python
