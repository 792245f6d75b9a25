#pragma once
// Calls on CUDA tensors take their place in a stream. PyTorch's interfaces for any device are used, not CUDA's headers.

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "group.hpp"

namespace tutti_torch {

/// The handle of CUDA. Streams of old versions of PyTorch do not tell it.
template <class Stream>
void* native_handle(const Stream& stream) {
  if constexpr (requires { stream.native_handle(); }) return stream.native_handle();
  TORCH_CHECK(false, "tutti: CUDA tensors need PyTorch 2.6 or newer");
}

/// A call in a stream: for the host it is over at once, and later work of a stream that waits for it sees its results.
class StreamedWork : public c10d::Work {
 public:
  StreamedWork(int rank, const Description& description, uint64_t number, c10::Stream stream)
      : Work(rank, description.type, description.title, description.inputs),
        outputs_(description.outputs),
        number_(number),
        stream_(stream),
        done_(stream.device_type()) {
    done_.record(stream_);
    const c10::StreamGuard guard(stream_);
    future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()),
                                                       std::vector<c10::Device>{stream_.device()});
    future_->markCompleted(c10::IValue(outputs_));
    finish();
  }
  bool isCompleted() override { return done_.query(); }
  void synchronize() override { done_.block(current()); }
  bool wait(Milliseconds timeout = kNoTimeout) override {
    synchronize();
    const auto end = Clock::now() + timeout;
    while (timeout != kNoTimeout && !done_.query()) {
      if (Clock::now() > end)
        C10_THROW_ERROR(DistBackendError, "tutti: Timed out waiting " + std::to_string(timeout.count()) + "ms");
      std::this_thread::yield();
    }
    return true;
  }
  std::vector<at::Tensor> result() override { return outputs_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }
  uint64_t getSequencenumber() const { return number_; }

 private:
  [[nodiscard]] c10::Stream current() const {
    return c10::impl::VirtualGuardImpl(stream_.device_type()).getStream(stream_.device());
  }
  std::vector<at::Tensor> outputs_;
  uint64_t number_;
  c10::Stream stream_;
  c10::Event done_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

/// Puts calls into a stream: the current one where the caller waits for them anyway, else one of the group's own, which
/// waits for the current one first, so that the program may go on with other work meanwhile.
class Streams {
 public:
  c10::intrusive_ptr<c10d::Work> run(Group& group, const Description& description, std::vector<Call> calls,
                                     c10::Device device, bool is_async) {
    const c10::impl::VirtualGuardImpl guard(device.type());
    const c10::Stream current = guard.getStream(device);
    const c10::Stream stream = is_async ? own(guard, device) : current;
    if (is_async) {
      c10::Event ready(device.type());
      ready.record(current);
      ready.block(stream);
    }
    const c10::StreamGuard in_stream(stream);
    tutti_options options = TUTTI_OPTIONS_INIT;
    options.has_stream = 1;
    options.stream = native_handle(stream);
    group.in_turn([&](tutti_comm comm) {
      for (auto& call : calls) {
        check(tutti_run(&call.bound(), comm, &options));
        call.finish();
      }
    });
    keep(guard, description, stream);
    return c10::make_intrusive<StreamedWork>(group.rank(), description, group.number(), stream);
  }

 private:
  c10::Stream own(const c10::impl::VirtualGuardImpl& guard, c10::Device device) {
    if (!own_) own_ = guard.getStreamFromGlobalPool(device, true);
    return *own_;
  }
  /// Memory that PyTorch's allocator gets back is not used again before the stream has done with it.
  static void keep(const c10::impl::VirtualGuardImpl& guard, const Description& description,
                   const c10::Stream& stream) {
    for (const auto* tensors : {&description.inputs, &description.outputs})
      for (const auto& tensor : *tensors)
        guard.recordDataPtrOnStream(tensor.storage().data_ptr(), stream);
  }
  std::optional<c10::Stream> own_;
};

}  // namespace tutti_torch
