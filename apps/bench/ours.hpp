#pragma once
// Tutti's calls in the three modes.

#include <string>
#include <utility>

#include "apps/bench/collective.hpp"
#include "tutti/call.hpp"

namespace tutti::bench {

[[nodiscard]] inline std::unique_ptr<Repeater> repeater_of(Plan plan) {
  return repeater([prepared = std::move(plan)]() mutable {
    prepared.start();
    prepared.wait();
  });
}

/// `describe` makes the description of the call's arguments that Tutti's functions for the collective make, anew for
/// each call as in any program.
template <detail::Call (*describe)(const Call&)>
[[nodiscard]] std::unique_ptr<Repeater> ours(const Call& call, Mode mode) {
  switch (mode) {
    case Mode::blocking:
      return repeater([call] { detail::run(describe(call), *call.comm, {call.algorithm}); });
    case Mode::nonblocking:
      return repeater([call] { detail::start(describe(call), *call.comm, {call.algorithm}).wait(); });
    case Mode::persistent:
      break;
  }
  return repeater_of(detail::prepare(describe(call), *call.comm, {call.algorithm}));
}

/// The algorithm that runs: as it was asked for, else the name of the one chosen.
template <detail::Call (*describe)(const Call&)>
[[nodiscard]] std::string algorithm(const Call& call) {
  if (!call.algorithm.empty()) return std::string{call.algorithm};
  return std::string{detail::prepare(describe(call), *call.comm, {}).algorithm()};
}

}  // namespace tutti::bench
