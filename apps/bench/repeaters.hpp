#pragma once
// Repeaters of plans, and of calls in streams.

#include <memory>
#include <utility>

#include "apps/bench/collective.hpp"
#include "apps/bench/cuda.hpp"
#include "tutti/request.hpp"

namespace tutti::bench {

[[nodiscard]] inline std::unique_ptr<Repeater> repeater_of(Plan plan, const Computation* computation) {
  return repeater([prepared = std::move(plan), computation]() mutable {
    prepared.start();
    compute(computation);
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

}  // namespace tutti::bench
