#include "lib/transport/ipc/arrivals.hpp"

namespace tutti::ipc {
namespace {

class CudaIpcPort final : public IpcPort {
 public:
  CudaIpcPort(const Route& route, const shm::Route& shm, const shm::SharedPlan& plan)
      : core_(route, shm, plan), departures_(core_), arrivals_(core_, departures_) {
    std::size_t messages = 0;
    for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i)
      if (plan.steps[static_cast<std::size_t>(i)].device >= 0) core_.device_of(i).prepare_events(++messages);
  }

  void begin(std::uint64_t sequence, int lane) override {
    collect();
    core_.host.begin(sequence, lane);
    departures_.begin();
    arrivals_.begin();
  }
  void bind(const Bases& bases) override {
    core_.bases = &bases;
    core_.host.bind(bases);
  }
  [[nodiscard]] std::int64_t reduced(const CompiledStep& step) const override { return arrivals_.reduced(step); }
  Posted post_send(int index, const CompiledStep& /*step*/, const std::byte* data) override {
    return departures_.post(index, data);
  }
  Posted post_recv(int index, const CompiledStep& /*step*/, std::byte* into) override {
    return arrivals_.post(index, {nullptr, nullptr, into});
  }
  Posted post_recv_reduce(int index, const CompiledStep& /*step*/, const Operands& operands) override {
    return arrivals_.post(index, operands);
  }
  [[nodiscard]] std::span<const int> poll() override {
    core_.completed.clear();
    core_.work.poll([this](int number) {
      if (is_send(number))
        departures_.fetched(number);
      else
        arrivals_.worked(number);
    });
    core_.host.poll([this](int index) {
      if (is_send(index))
        departures_.sent_by_host(index);
      else
        arrivals_.received_by_host(index);
    });
    arrivals_.poll();
    departures_.poll();
    core_.exchange.exports().serve();
    return core_.completed;
  }
  void require_same_kind() const override { arrivals_.require_same_kind(); }
  [[nodiscard]] int unfinished() const override {
    for (const int index : {arrivals_.unfinished(), departures_.unfinished()})
      if (index >= 0) return index;
    return core_.host.unfinished();
  }
  void abandon() noexcept override {
    core_.work.abandon();
    core_.host.abandon();
    departures_.abandon();
    arrivals_.abandon();
  }

 private:
  /// Joint reductions have numbers behind the steps.
  [[nodiscard]] bool is_send(int number) const {
    return number < static_cast<int>(core_.plan->steps.size()) && core_.step(number).verb == Verb::send;
  }

  Core core_;
  Departures departures_;
  Arrivals arrivals_;
};

}  // namespace

std::unique_ptr<IpcPort> ipc_port(const Route& route, const shm::Route& shm, const shm::SharedPlan& plan) {
  return std::make_unique<CudaIpcPort>(route, shm, plan);
}

}  // namespace tutti::ipc
