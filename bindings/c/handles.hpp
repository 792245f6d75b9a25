#pragma once
// What the handles of C point to.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/c/guarded.hpp"
#include "tutti.h"
#include "tutti/tutti.hpp"

namespace tutti::c {

/// The beginning of what a handle points to. Compilers of C only warn of MPI_SUM as a tutti_op, or of a plan as a
/// request.
template <std::uint64_t its_mark>
class Marked {
 public:
  Marked() = default;
  Marked(const Marked&) = default;
  Marked& operator=(const Marked&) = default;
  ~Marked() { mark_ = 0; }
  [[nodiscard]] bool is_one() const { return mark_ == its_mark; }

 private:
  volatile std::uint64_t mark_ = its_mark;
};

}  // namespace tutti::c

struct tutti_comm_object : tutti::c::Marked<0x7475747469c0> {
  explicit tutti_comm_object(tutti::Communicator made) : comm(std::move(made)) {}
  tutti::Communicator comm;
  // What was asked last, which the program reads by pointer.
  std::string status;
  std::vector<int> node, leaders;
  tutti::Counters counters;
  std::vector<tutti_counter> listed;
};
struct tutti_request_object : tutti::c::Marked<0x7475747469c1> {
  tutti::Request request;
};
struct tutti_plan_object : tutti::c::Marked<0x7475747469c2> {
  tutti::Plan plan;
  std::string algorithm, explanation;
};
struct tutti_batch_object : tutti::c::Marked<0x7475747469c3> {
  tutti::Batch batch;
};
struct tutti_op_object : tutti::c::Marked<0x7475747469c4> {
  tutti::Op op;
  tutti_user_function function = nullptr;
  void* context = nullptr;
};

namespace tutti::c {

/// What a handle points to. Throws ArgumentError if it is NULL or, as far as that can be seen, none of Tutti's: handles
/// of MPIs are numbers, or point to memory that has no mark.
template <class Object>
Object& object_of(const Site& site, std::string_view argument, Object* handle, std::string_view allowed) {
  Object& object = site.pointed(argument, handle, allowed);
  if (!is_address(handle) || !object.is_one()) site.refuse(argument, "no such handle of Tutti's", allowed);
  return object;
}
[[nodiscard]] inline Communicator& communicator(const Site& site, tutti_comm comm) {
  return object_of(site, "comm", comm, "a communicator that tutti_comm_create made").comm;
}
[[nodiscard]] inline Plan& plan_of(const Site& site, tutti_plan plan) {
  return object_of(site, "plan", plan, "a plan that has not been freed").plan;
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

// stored() for requests and plans: make(site) gives what they are in C++.

template <class Make>
tutti_status stored_request(tutti_request* place, const Make& make,
                            const char* function = __builtin_FUNCTION()) noexcept {
  return stored(
      "request", place,
      [&](const Site& site) {
        return std::make_unique<tutti_request_object>(tutti_request_object{{}, make(site)}).release();
      },
      function);
}

template <class Make>
tutti_status stored_plan(tutti_plan* place, const Make& make, const char* function = __builtin_FUNCTION()) noexcept {
  return stored(
      "plan", place,
      [&](const Site& site) {
        return std::make_unique<tutti_plan_object>(tutti_plan_object{{}, make(site), {}, {}}).release();
      },
      function);
}

/// The body of a function that frees a handle.
template <class Handle>
tutti_status freed(std::string_view argument, Handle* handle, const char* function = __builtin_FUNCTION()) noexcept {
  return guarded(
      [&](const Site& site) {
        Handle& its = site.pointed(argument, handle);
        if (its != nullptr) delete &object_of(site, argument, its, "a handle that was made by Tutti, or NULL");
        its = nullptr;
      },
      function);
}

// Numbers of C as values of C++. Each throws ArgumentError if there is none.
[[nodiscard]] Type type_of(const Site& site, std::string_view argument, tutti_type type);
[[nodiscard]] Collective collective_of(const Site& site, tutti_collective collective);
/// "same" or "fixed"; nullptr: nothing.
[[nodiscard]] std::optional<Bits> bits_of(const Site& site, const char* given);
/// "fp32" or "fp64"; nullptr: nothing.
[[nodiscard]] std::optional<Type> wide_type_of(const Site& site, const char* given);
/// "stochastic" or "nearest"; nullptr: that.
[[nodiscard]] Rounding rounding_of(const Site& site, const char* given);
[[nodiscard]] Op op_of(const Site& site, tutti_op op);

}  // namespace tutti::c
