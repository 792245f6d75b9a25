// The other process of peer.hpp: questions from stdin, answers to stdout.
#include <dlfcn.h>

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/fake_cuda/tests/peer.hpp"

namespace fake_cuda {
namespace {

struct State {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr memory = 0, own = 0;
  int* word = nullptr;
};

CUresult begin(State& state) {
  void* word = nullptr;
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS) result = cuDevicePrimaryCtxRetain(&state.context, 0);
  if (result == CUDA_SUCCESS) result = cuCtxSetCurrent(state.context);
  if (result == CUDA_SUCCESS) result = cuStreamCreate(&state.stream, CU_STREAM_NON_BLOCKING);
  if (result == CUDA_SUCCESS) result = cuMemAlloc(&state.own, sizeof(int));
  if (result == CUDA_SUCCESS) result = cuMemHostAlloc(&word, sizeof(int), 0);
  state.word = static_cast<int*>(word);
  return result;
}

CUresult perform(State& state, const Peer::Question& question) {
  CUevent event = nullptr;
  CUresult result = CUDA_SUCCESS;
  switch (question.task) {
    case Peer::Task::open:
      return cuIpcOpenMemHandle(&state.memory, question.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    case Peer::Task::wait_for:
      result = cuIpcOpenEventHandle(&event, question.event);
      return result == CUDA_SUCCESS ? cuStreamWaitEvent(state.stream, event, 0) : result;
    case Peer::Task::read:
      result = cuMemcpyDtoDAsync(state.own, state.memory, sizeof(int), state.stream);
      if (result == CUDA_SUCCESS) result = cuMemcpyDtoHAsync(state.word, state.own, sizeof(int), state.stream);
      return result == CUDA_SUCCESS ? cuStreamSynchronize(state.stream) : result;
    case Peer::Task::close:
      return cuIpcCloseMemHandle(state.memory);
    case Peer::Task::look:
    case Peer::Task::end:
      break;
  }
  return CUDA_SUCCESS;
}

FakeCudaCounters counters() {
  FakeCudaCounters all{};
  auto* const ask = reinterpret_cast<decltype(fake_cuda_counters)*>(::dlsym(RTLD_DEFAULT, "fake_cuda_counters"));
  if (ask != nullptr) ask(&all);
  return all;
}

Peer::Answer answer_of(CUresult result, const State& state) {
  const FakeCudaCounters all = counters();
  std::size_t free = 0, total = 0;
  cuMemGetInfo(&free, &total);
  return {result, state.word == nullptr ? 0 : *state.word, all.faults, all.bytes_imported, total - free};
}

}  // namespace
}  // namespace fake_cuda

int main() {
  using namespace fake_cuda;
  State state;
  const CUresult begun = begin(state);
  for (Peer::Question question{}; ::read(STDIN_FILENO, &question, sizeof question) == sizeof question;) {
    const CUresult result = begun == CUDA_SUCCESS ? perform(state, question) : begun;
    const Peer::Answer answer = answer_of(result, state);
    if (::write(STDOUT_FILENO, &answer, sizeof answer) != sizeof answer || question.task == Peer::Task::end) break;
  }
}
