#include "lib/device/ipc/arrivals.hpp"

namespace tutti::ipc {
namespace {

class CudaIpcPort final : public TransportPort {
 public:
  CudaIpcPort(const Route& route, const shm::ShmPort& host, const shm::SharedPlan& plan)
      : core_(route, host, plan), departures_(core_), arrivals_(core_, departures_) {
    completed_.reserve(plan.steps.size());
    std::size_t messages = 0;
    for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i)
      if (plan.steps[static_cast<std::size_t>(i)].device >= 0) core_.device_of(i).prepare_events(++messages);
  }

  void begin(const RunNumber& /*run*/) override {
    collect();
    departures_.begin();
    arrivals_.begin();
  }
  void bind(const Bases& bases) override { core_.bases = &bases; }
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
  void require_same_kind() const override { arrivals_.require_same_kind(); }
  [[nodiscard]] int unfinished() const override {
    for (const int index : {arrivals_.unfinished(), departures_.unfinished()})
      if (index >= 0) return index;
    return core_.host.unfinished();
  }
  bool abandon() noexcept override {
    core_.work.abandon();
    departures_.abandon();
    arrivals_.abandon();
    return true;
  }

 private:
  int look() override {
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
    arrivals_.poll(completed_);
    departures_.poll(completed_);
    core_.exchange.exports().serve();
    return static_cast<int>(completed_.size());
  }
  /// Joint reductions have numbers behind the steps.
  [[nodiscard]] bool is_send(int number) const {
    return number < static_cast<int>(core_.plan->steps.size()) && core_.step(number).verb == Verb::send;
  }

  Core core_;
  Departures departures_;
  Arrivals arrivals_;
};

}  // namespace

std::unique_ptr<TransportPort> ipc_port(const Route& route, const shm::ShmPort& host, const shm::SharedPlan& plan) {
  return std::make_unique<CudaIpcPort>(route, host, plan);
}

}  // namespace tutti::ipc
