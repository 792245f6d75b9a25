#pragma once
// Tutti's calls in each mode.

#include <string>
#include <utility>

#include "apps/bench/collective.hpp"
#include "apps/bench/cuda.hpp"
#include "tutti/call.hpp"

namespace tutti::bench {

[[nodiscard]] inline std::unique_ptr<Repeater> repeater_of(Plan plan) {
  return repeater([prepared = std::move(plan)]() mutable {
    prepared.start();
    prepared.wait();
  });
}

/// A repeater of `put()`, which puts a call into the stream of cuda::stream(): calls back to back are a batch, which is
/// over when the stream is.
template <class Put>
[[nodiscard]] std::unique_ptr<Repeater> repeater_in_stream(Put put) {
  class Batch : public Repeater {
   public:
    explicit Batch(Put body) : put_(std::move(body)) {}
    void run(int calls) override {
      for (int i = 0; i < calls; ++i) {
        put_();
      }
      cuda::wait_for_stream();
    }

   private:
    Put put_;
  };
  return std::make_unique<Batch>(std::move(put));
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
    case Mode::stream:
      return repeater_in_stream([call, stream = cuda::stream()] {
        detail::run(describe(call), *call.comm, {.algorithm = call.algorithm, .stream = stream});
      });
    case Mode::stream_plan:
      return repeater_in_stream(
          [prepared = detail::prepare(describe(call), *call.comm, {call.algorithm, cuda::stream()})]() mutable {
            prepared.start();
          });
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
