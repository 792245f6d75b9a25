#include "tests/fake_cuda/driver/operation.hpp"

#include <string>

#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/ptx/module.hpp"

namespace fake_cuda {

thread_local Running* running = nullptr;
thread_local bool is_in_host_function = false;

namespace {

void lose(Context& context, CUresult code, const char* name, const std::string& why) {
  caught(name, why);
  CUresult none = CUDA_SUCCESS;
  context.lost.compare_exchange_strong(none, code);
}

}  // namespace

void perform(const Operation& operation, Context& context) {
  if (!operation.work || (context.lost != CUDA_SUCCESS && !operation.even_if_lost)) return;
  try {
    operation.work();
  } catch (const DeviceFault& fault) {
    lose(context, CUDA_ERROR_ILLEGAL_ADDRESS, fault.name, fault.why);
  } catch (const ptx::Error& error) {
    lose(context, CUDA_ERROR_LAUNCH_FAILED, "kernel", error.what());
  }
}

void keep(const Operation& operation, const Running& now) {
  FakeCudaOperation kept{};
  kept.kind = operation.what.kind;
  operation.what.name.copy(kept.name, sizeof kept.name - 1);
  kept.stream = now.stream;
  kept.sequence = now.sequence;
  kept.bytes = now.bytes;
  kept.posted_ns = operation.posted_ns;
  kept.started_ns = now.started_ns;
  kept.ended_ns = now_ns();
  Timeline::get().add(kept);
}

}  // namespace fake_cuda
