#pragma once
// A run whose steps are recorded in a trace.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "lib/core/run/run.hpp"
#include "lib/watch/trace/traced_executor.hpp"
#include "lib/watch/trace/traced_port.hpp"

namespace tutti::detail {

template <Executor Worker>
class TracedRunOn final : public Run {
 public:
  TracedRunOn(const Routes& route, const shm::SharedPlan& plan, Worker worker, trace::Subject& call)
      : steps_(call, plan),
        execution_(plan, Port{steps_, Mux{route, plan}},
                   trace::TracedExecutor<Worker>{std::move(worker), plan, steps_}) {}

  void bind(const void* input, void* output) override { execution_.bind(input, output); }
  void lend(Buffer buffer, std::byte* memory) override { execution_.lend(buffer, memory); }
  void begin() override { execution_.begin(); }
  [[nodiscard]] bool advance() override { return execution_.advance(); }
  void abandon() noexcept override { execution_.abandon(); }
  [[nodiscard]] std::uint64_t progress() const override { return execution_.progress(); }
  [[nodiscard]] Mux& port() override { return execution_.port(); }

 private:
  using Port = trace::TracedPort<Mux>;
  trace::Steps steps_;
  Execution<Port, trace::TracedExecutor<Worker>> execution_;
};

}  // namespace tutti::detail
