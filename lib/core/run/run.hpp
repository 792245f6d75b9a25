#pragma once
// A plan that runs on a communicator: its execution, for the worker that the plan was staged for.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "lib/core/exec/execution.hpp"
#include "lib/core/transport/mux.hpp"

namespace tutti::trace {
struct Subject;
}

namespace tutti::detail {

/// Virtual calls cost a nanosecond or two in each poll. The fast path makes none: Operation knows its HostRun.
class Run {
 public:
  Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  virtual ~Run() = default;

  // The functions of Execution.
  virtual void bind(const void* input, void* output) = 0;
  virtual void lend(Buffer buffer, std::byte* memory) = 0;
  virtual void begin() = 0;
  [[nodiscard]] virtual bool advance() = 0;
  virtual void abandon() noexcept = 0;
  [[nodiscard]] virtual std::uint64_t progress() const = 0;
  [[nodiscard]] virtual Mux& port() = 0;
};

template <Executor Worker>
class RunOn final : public Run {
 public:
  RunOn(const Routes& route, const shm::SharedPlan& plan, Worker worker)
      : execution_(plan, Mux{route, plan}, std::move(worker)) {}

  void bind(const void* input, void* output) override { execution_.bind(input, output); }
  void lend(Buffer buffer, std::byte* memory) override { execution_.lend(buffer, memory); }
  void begin() override { execution_.begin(); }
  [[nodiscard]] bool advance() override { return execution_.advance(); }
  void abandon() noexcept override { execution_.abandon(); }
  [[nodiscard]] std::uint64_t progress() const override { return execution_.progress(); }
  [[nodiscard]] Mux& port() override { return execution_.port(); }
  [[nodiscard]] Execution<Mux, Worker>& execution() { return execution_; }

 private:
  Execution<Mux, Worker> execution_;
};

using HostRun = RunOn<HostExecutor>;

/// A run of a plan whose worker is a device. `call`: in whose trace its steps are recorded; nullptr: in none. Throws
/// Error.
[[nodiscard]] std::unique_ptr<Run> device_run(const Routes& route, const shm::SharedPlan& plan, trace::Subject* call);
/// A run of a plan whose worker is the host, in a trace. It has its own file, so that the compiler treats plain runs
/// as if there were no others.
[[nodiscard]] std::unique_ptr<Run> traced_host_run(const Routes& route, const shm::SharedPlan& plan,
                                                   trace::Subject& call);
[[nodiscard]] inline std::unique_ptr<Run> make_run(const Routes& route, const shm::SharedPlan& plan,
                                                   trace::Subject* call) {
  if (plan.staging.worker == Staging::Worker::device) return device_run(route, plan, call);
  if (call != nullptr) return traced_host_run(route, plan, *call);
  return std::make_unique<HostRun>(route, plan, HostExecutor{plan});
}

}  // namespace tutti::detail
