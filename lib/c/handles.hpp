#pragma once
// What the handles of C point to.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/c/guarded.hpp"
#include "tutti.h"
#include "tutti/tutti.hpp"

struct tutti_comm_object {
  explicit tutti_comm_object(tutti::Communicator made) : comm(std::move(made)) {}
  tutti::Communicator comm;
  // What was asked last, which the program reads by pointer.
  std::string status;
  std::vector<int> node, leaders;
  tutti::Counters counters;
  std::vector<tutti_counter> listed;
};
struct tutti_request_object {
  tutti::Request request;
};
struct tutti_plan_object {
  tutti::Plan plan;
  std::string algorithm, explanation;
};
struct tutti_batch_object {
  tutti::Batch batch;
};
struct tutti_op_object {
  tutti::Op op;
  tutti_user_function function = nullptr;
  void* context = nullptr;
};

namespace tutti::c {

[[nodiscard]] inline Communicator& communicator(const Site& site, tutti_comm comm) {
  return site.pointed("comm", comm, "a communicator that tutti_comm_create made").comm;
}
[[nodiscard]] inline Plan& plan_of(const Site& site, tutti_plan plan) {
  return site.pointed("plan", plan, "a plan that has not been freed").plan;
}

/// The body of a function that makes a handle, by make(site), and stores it; NULL if that fails.
template <class Handle, class Make>
tutti_status stored(std::string_view argument, Handle* place, const Make& make,
                    const char* function = __builtin_FUNCTION()) noexcept {
  return guarded(
      [&](const Site& site) {
        Handle& handle = site.pointed(argument, place);
        handle = nullptr;
        handle = make(site);
      },
      function);
}

// The same for requests and plans, of what make(site) gives in C++.

template <class Make>
tutti_status stored_request(tutti_request* place, const Make& make,
                            const char* function = __builtin_FUNCTION()) noexcept {
  return stored(
      "request", place,
      [&](const Site& site) {
        return std::make_unique<tutti_request_object>(tutti_request_object{make(site)}).release();
      },
      function);
}

template <class Make>
tutti_status stored_plan(tutti_plan* place, const Make& make, const char* function = __builtin_FUNCTION()) noexcept {
  return stored(
      "plan", place,
      [&](const Site& site) {
        return std::make_unique<tutti_plan_object>(tutti_plan_object{make(site), {}, {}}).release();
      },
      function);
}

/// The body of a function that frees a handle.
template <class Handle>
tutti_status freed(std::string_view argument, Handle* handle, const char* function = __builtin_FUNCTION()) noexcept {
  return guarded(
      [&](const Site& site) {
        Handle& its = site.pointed(argument, handle);
        delete its;
        its = nullptr;
      },
      function);
}

// Numbers of C as values of C++. Each throws ArgumentError if there is none.
[[nodiscard]] Type type_of(const Site& site, std::string_view argument, tutti_type type);
[[nodiscard]] Collective collective_of(const Site& site, tutti_collective collective);
[[nodiscard]] Op op_of(const Site& site, tutti_op op);

}  // namespace tutti::c
