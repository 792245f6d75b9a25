// The other process of peer.hpp: questions and answers by the socket that is its stdin.
#include <dlfcn.h>

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/fake_cuda/tests/peer.hpp"

namespace fake_cuda {
namespace {

struct State {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr memory = 0, own = 0;
  CUmemoryPool pool = nullptr;
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

CUresult open_fabric(State& state, CUmemFabricHandle fabric) {
  CUmemGenericAllocationHandle handle = 0;
  CUmemAllocationProp properties{};
  std::size_t bytes = 0;
  CUresult result = cuMemImportFromShareableHandle(&handle, &fabric, CU_MEM_HANDLE_TYPE_FABRIC);
  if (result == CUDA_SUCCESS) result = cuMemGetAllocationPropertiesFromHandle(&properties, handle);
  if (result == CUDA_SUCCESS)
    result = cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  if (result == CUDA_SUCCESS) result = cuMemAddressReserve(&state.memory, bytes, 0, 0, 0);
  if (result == CUDA_SUCCESS) result = cuMemMap(state.memory, bytes, 0, handle, 0);
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  return result == CUDA_SUCCESS ? cuMemSetAccess(state.memory, bytes, &access, 1) : result;
}

CUresult open_pool(State& state, int file) {
  const auto handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(file));
  return cuMemPoolImportFromShareableHandle(&state.pool, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
}

CUresult post_read(State& state, std::uint64_t offset) {
  const CUresult result = cuMemcpyDtoDAsync(state.own, state.memory + offset, sizeof(int), state.stream);
  return result == CUDA_SUCCESS ? cuMemcpyDtoHAsync(state.word, state.own, sizeof(int), state.stream) : result;
}

void sleep_a_little(void*) { ::usleep(50'000); }

CUresult perform(State& state, const Peer::Question& question, int file) {
  CUmemPoolPtrExportData pool_memory = question.pool_memory;
  CUevent event = nullptr;
  CUresult result = CUDA_SUCCESS;
  switch (question.task) {
    case Peer::Task::open:
      return cuIpcOpenMemHandle(&state.memory, question.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    case Peer::Task::open_fabric:
      return open_fabric(state, question.fabric);
    case Peer::Task::open_pool:
      return open_pool(state, file);
    case Peer::Task::open_pool_memory:
      return cuMemPoolImportPointer(&state.memory, state.pool, &pool_memory);
    case Peer::Task::wait_for:
      result = cuIpcOpenEventHandle(&event, question.event);
      return result == CUDA_SUCCESS ? cuStreamWaitEvent(state.stream, event, 0) : result;
    case Peer::Task::wait_for_value:
      return cuStreamWaitValue32(state.stream, state.memory + question.offset, 1, CU_STREAM_WAIT_VALUE_EQ);
    case Peer::Task::hold_up:
      return cuLaunchHostFunc(state.stream, sleep_a_little, nullptr);
    case Peer::Task::post_read:
      return post_read(state, question.offset);
    case Peer::Task::read:
      result = post_read(state, question.offset);
      return result == CUDA_SUCCESS ? cuStreamSynchronize(state.stream) : result;
    case Peer::Task::close:
      return cuIpcCloseMemHandle(state.memory);
    case Peer::Task::free:
      result = cuMemFreeAsync(state.memory, state.stream);
      return result == CUDA_SUCCESS ? cuStreamSynchronize(state.stream) : result;
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

std::uint64_t faults(const char* name) {
  auto* const ask = reinterpret_cast<decltype(fake_cuda_faults)*>(::dlsym(RTLD_DEFAULT, "fake_cuda_faults"));
  return ask == nullptr ? 0 : ask(name);
}

Peer::Answer answer_of(CUresult result, const char* fault, const State& state) {
  const FakeCudaCounters all = counters();
  std::size_t free = 0, total = 0;
  cuMemGetInfo(&free, &total);
  const std::uint64_t caught = *fault == 0 ? all.faults : faults(fault);
  return {result, state.word == nullptr ? 0 : *state.word, caught, all.bytes_imported, total - free};
}

/// False: there is none any more. `file`: what came with it.
bool receive(Peer::Question& question, int& file) {
  iovec bytes{&question, sizeof question};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(STDIN_FILENO, &message, MSG_WAITALL) != sizeof question) return false;
  file = -1;
  if (const cmsghdr* const header = CMSG_FIRSTHDR(&message); header != nullptr)
    std::memcpy(&file, CMSG_DATA(header), sizeof file);
  return true;
}

}  // namespace
}  // namespace fake_cuda

int main() {
  using namespace fake_cuda;
  State state;
  const CUresult begun = begin(state);
  int file = -1;
  for (Peer::Question question{}; receive(question, file);) {
    const CUresult result = begun == CUDA_SUCCESS ? perform(state, question, file) : begun;
    const Peer::Answer answer = answer_of(result, question.fault, state);
    if (::write(STDIN_FILENO, &answer, sizeof answer) != sizeof answer || question.task == Peer::Task::end) break;
  }
}
