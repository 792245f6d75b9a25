#include "requests.hpp"

#include <nanobind/stl/string.h>

#include "process.hpp"

namespace tutti::python {
namespace {

double seconds_of(const nb::object& timeout) {
  if (timeout.is_none()) return -1;
  const double seconds = PyUnicode_Check(timeout.ptr()) ? -1 : PyFloat_AsDouble(timeout.ptr());
  if (PyUnicode_Check(timeout.ptr()) || (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_TypeError) != 0)) {
    PyErr_Clear();
    raise("TypeArgumentError", "wait: timeout is " + in_words(timeout) + ", and no number of seconds");
  }
  PyErr_Clear();  // an int that no float can hold has given -1
  if (!(seconds >= 0)) refuse("wait: timeout is " + in_words(timeout) + "; allowed: None, and 0 and more seconds");
  return seconds;
}

[[noreturn]] void time_is_over() {
  PyErr_SetString(PyExc_TimeoutError, "tutti: wait: the time is over, and the operation goes on");
  throw nb::python_error();
}

/// Peers depend on this rank's part: a destructor waits. A signal that ends the program has the communicator aborted.
template <class Step>
void wait_for_dropped(const char* what, const Kept& kept, const Step& step) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  const std::string text =
      std::string{"tutti: "} + what + " was dropped before it was over; its destructor waits for it";
  if (PyErr_WarnEx(PyExc_ResourceWarning, text.c_str(), 1) != 0) PyErr_WriteUnraisable(nullptr);
  tutti_status status = TUTTI_SUCCESS;
  try {
    static_cast<void>(wait_in_slices(step, -1, status));
  } catch (nb::python_error& error) {
    error.restore();
    PyErr_WriteUnraisable(nullptr);
    if (kept.communicator.is_valid()) nb::cast<Communicator&>(kept.communicator).abort("a signal ended the wait");
  }
  PyErr_Restore(type, value, traceback);
}

}  // namespace

nb::object Kept::finished() const {
  if (!listed_results.empty()) {
    nb::list all;
    for (const Result& each : listed_results)
      all.append(each.finished());
    return all;
  }
  return result.namespace_of_immutable.is_valid() ? result.finished() : returned;
}

void Kept::fail(tutti_status status) const {
  raise_status(status, function != nullptr ? function->take_exception() : nb::object{});
}

class Request::Turn {
 public:
  Turn(Request& request, const char* function) : request_(request) {
    if (is_child_of_fork()) require_same_process(function);
    if (request.is_busy_) raise("StateError", std::string{function} + ": another thread waits for this request");
    request.is_busy_ = true;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { request_.is_busy_ = false; }

 private:
  Request& request_;
};

void Request::finish() {
  if (handle_ == nullptr || is_child_of_fork()) return;
  wait_for_dropped("a request", kept_, [&](double s, int* c) { return tutti_request_wait_for(&handle_, s, c); });
  const nb::gil_scoped_release released;
  if (handle_ != nullptr) tutti_request_free(&handle_);
}

/// Arrays are let go. The exception of a failed operation is kept, for each wait to raise.
void Request::over(tutti_status status) {
  if (status != TUTTI_SUCCESS) {
    error_ = exception_of(status);
    if (kept_.function != nullptr) {
      nb::object cause = kept_.function->take_exception();
      if (cause.is_valid()) PyException_SetCause(error_.ptr(), cause.release().ptr());
    }
    if (handle_ != nullptr) {
      const nb::gil_scoped_release released;
      tutti_request_free(&handle_);
    }
  } else {
    value_ = kept_.finished();
  }
  kept_ = Kept{};
}

void Request::require_success() {
  if (is_cancelled_) raise("StateError", "wait: the request was cancelled");
  if (!error_.is_valid()) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error_.ptr())), error_.ptr());
  throw nb::python_error();
}

bool Request::test() {
  const Turn turn{*this, "test"};
  if (handle_ != nullptr) {
    int complete = 0;
    tutti_status status = TUTTI_SUCCESS;
    {
      const nb::gil_scoped_release released;
      status = tutti_request_test(&handle_, &complete);
    }
    if (status == TUTTI_SUCCESS && complete == 0) return false;
    over(status);
  }
  require_success();
  return true;
}

nb::object Request::wait(const nb::object& timeout) {
  const double limit = seconds_of(timeout);
  const Turn turn{*this, "wait"};
  if (handle_ != nullptr) {
    tutti_status status = TUTTI_SUCCESS;
    if (!wait_in_slices([&](double s, int* c) { return tutti_request_wait_for(&handle_, s, c); }, limit, status))
      time_is_over();
    over(status);
  }
  require_success();
  return value_;
}

bool Request::cancel() {
  const Turn turn{*this, "cancel"};
  if (handle_ == nullptr) return false;
  int cancelled = 0;
  check_unlocked([&] { return tutti_request_cancel(&handle_, &cancelled); });
  if (cancelled == 0) return false;
  is_cancelled_ = true;
  kept_ = Kept{};
  return true;
}

nb::object Request::result() {
  if (handle_ != nullptr) raise("StateError", "result: the operation is not over; wait for it");
  require_success();
  return value_;
}

void Plan::finish() {
  if (handle_ == nullptr || is_child_of_fork()) return;
  int complete = 0;
  {
    const nb::gil_scoped_release released;
    if (tutti_plan_test(handle_, &complete) != TUTTI_SUCCESS) complete = 1;
  }
  if (complete == 0)
    wait_for_dropped("a plan", kept_, [&](double s, int* c) { return tutti_plan_wait_for(handle_, s, c); });
  const nb::gil_scoped_release released;
  tutti_plan_free(&handle_);
}

void Plan::require_usable(const char* function) const {
  if (is_child_of_fork()) require_same_process(function);
  if (is_busy_) raise("StateError", std::string{function} + ": another thread waits for this plan");
}

void Plan::start() {
  require_usable("start");
  tutti_status status = TUTTI_SUCCESS;
  {
    const nb::gil_scoped_release released;
    status = tutti_plan_start(handle_);
  }
  if (status != TUTTI_SUCCESS) kept_.fail(status);
}

nb::object Plan::completed(double limit, tutti_status status, bool is_complete) {
  struct Busy {
    bool& flag;
    explicit Busy(bool& given) : flag(given) { flag = true; }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    ~Busy() { flag = false; }
  };
  const Busy busy{is_busy_};
  if (status == TUTTI_SUCCESS &&
      !wait_in_slices([&](double s, int* c) { return tutti_plan_wait_for(handle_, s, c); }, limit, status, is_complete))
    time_is_over();
  if (status != TUTTI_SUCCESS) kept_.fail(status);
  return kept_.returned;
}

nb::object Plan::wait(const nb::object& timeout) {
  require_usable("wait");
  return completed(seconds_of(timeout), TUTTI_SUCCESS, false);
}

/// The short way: the GIL is released once.
nb::object Plan::run() {
  require_usable("call");
  int complete = 0;
  tutti_status status = TUTTI_SUCCESS;
  {
    const nb::gil_scoped_release released;
    status = tutti_plan_start(handle_);
    if (status == TUTTI_SUCCESS) status = tutti_plan_wait_for(handle_, slice, &complete);
  }
  if (status == TUTTI_SUCCESS && complete != 0) return kept_.returned;
  return completed(-1, status, complete != 0);
}

bool Plan::test() {
  require_usable("test");
  int complete = 0;
  tutti_status status = TUTTI_SUCCESS;
  {
    const nb::gil_scoped_release released;
    status = tutti_plan_test(handle_, &complete);
  }
  if (status != TUTTI_SUCCESS) kept_.fail(status);
  return complete != 0;
}

std::string Plan::algorithm() const {
  const char* name = nullptr;
  check_unlocked([&] { return tutti_plan_algorithm(handle_, &name); });
  return name;
}

std::string Plan::explain() const {
  const char* text = nullptr;
  check_unlocked([&] { return tutti_plan_explain(handle_, &text); });
  return text;
}

void bind_requests(nb::module_& module) {
  nb::class_<Request>(
      module, "Request",
      "An operation under way: what the calls named x_async return. It keeps its arrays alive; nobody else may change "
      "them\nuntil it is over. It moves only while some thread of this process is inside Tutti, or with "
      "TUTTI_PROGRESS_THREAD=1.\nA request that is dropped before it is over gives a ResourceWarning, and waits. "
      "`await "
      "request` waits in asyncio.",
      in_cycles<Request>())
      .def("test", &Request::test, "Makes progress, never blocks; True if the operation is over. Raises its error.")
      .def("wait", &Request::wait, nb::arg("timeout") = nb::none(),
           "Waits until it is over, and returns the result of the call. With a timeout in seconds: raises TimeoutError "
           "if "
           "it is\nnot over by then; the operation goes on. Ctrl-C ends the wait, not the operation. An error of the "
           "operation is raised,\nagain by each wait.")
      .def("cancel", &Request::cancel,
           "Takes back a receive that no message has met: True. False: nothing has happened, and it has to be waited "
           "for.")
      .def_prop_ro("done", &Request::is_over, "Whether it is known to be over. Makes no progress.")
      .def_prop_ro("result", &Request::result, "The result of the call, once it is over.")
      .def("__await__", [](nb::handle self) {
        return nb::module_::import_("tutti._asyncio").attr("finished")(self).attr("__await__")();
      });
  nb::class_<Plan>(
      module, "Plan",
      "A call that is prepared once and made many times: what the calls named plan_x return. plan() is start() and "
      "wait().\nThe plan keeps its arrays; each start reads and writes them where they are.",
      in_cycles<Plan>())
      .def("start", &Plan::start, "All ranks start their plans and other calls in the same order.")
      .def("wait", &Plan::wait, nb::arg("timeout") = nb::none(),
           "Waits until it is over, at once if it was not started, and returns the result. Timeout, errors and Ctrl-C "
           "as "
           "for\nrequests.")
      .def("test", &Plan::test, "Makes progress, never blocks; True if the plan is over.")
      .def("__call__", &Plan::run, "Starts it, waits, and returns the result.")
      .def_prop_ro("out", &Plan::out, "The array that the result is written to.")
      .def_prop_ro("algorithm", &Plan::algorithm, "The algorithm's name; \"\" if the plan is no collective.")
      .def("explain", &Plan::explain, "The algorithm that runs, and why: a sentence.");
}

}  // namespace tutti::python
