#include "tests/support/device_streams.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace tutti::test {
namespace {

using Address = unsigned long long;

// Declared as in cuda.h.
constexpr unsigned non_blocking = 1, wait_equal = 1, no_timing = 2;
constexpr int not_ready = 600, mode_thread_local = 1;

template <class... Arguments>
int give(const char* name, Arguments... arguments) {
  static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  auto* const function = reinterpret_cast<int (*)(Arguments...)>(::dlsym(library, name));
  return function == nullptr ? -1 : function(arguments...);
}
template <class... Arguments>
void call(const char* name, Arguments... arguments) {
  if (const int result = give(name, arguments...); result != 0)
    throw std::runtime_error(std::string{name} + " gave " + std::to_string(result));
}

/// Null: the capture was lost.
void* captured(CUstream_st* stream, const std::function<void()>& work) {
  call("cuStreamBeginCapture_v2", stream, mode_thread_local);
  void* graph = nullptr;
  try {
    work();
  } catch (...) {
    give("cuStreamEndCapture", stream, &graph);
    throw;
  }
  return give("cuStreamEndCapture", stream, &graph) == 0 ? graph : nullptr;
}

}  // namespace

TestStream::TestStream(Priority priority) {
  int least = 0, greatest = 0;
  call("cuCtxGetStreamPriorityRange", &least, &greatest);
  call("cuStreamCreateWithPriority", &stream_, non_blocking, priority == Priority::greatest ? greatest : least);
}
TestStream::~TestStream() {
  give("cuStreamSynchronize", stream_);
  give("cuStreamDestroy_v2", stream_);
}

void TestStream::copy(void* to, const void* from, std::size_t bytes) const {
  if (bytes > 0) call("cuMemcpyAsync", reinterpret_cast<Address>(to), reinterpret_cast<Address>(from), bytes, stream_);
}
void TestStream::fill(void* to, unsigned char value, std::size_t bytes) const {
  if (bytes > 0) call("cuMemsetD8Async", reinterpret_cast<Address>(to), value, bytes, stream_);
}
void TestStream::wait_for(const volatile std::uint32_t* word) const {
  call("cuStreamWaitValue32_v2", stream_, reinterpret_cast<Address>(word), std::uint32_t{1}, wait_equal);
}
void TestStream::wait_for(const TestStream& other) const {
  void* event = nullptr;
  call("cuEventCreate", &event, no_timing);
  call("cuEventRecord", event, other.stream_);
  call("cuStreamWaitEvent", stream_, event, 0U);
  call("cuEventDestroy_v2", event);
}
void TestStream::synchronize() const { call("cuStreamSynchronize", stream_); }
bool TestStream::is_idle() const { return give("cuStreamQuery", stream_) != not_ready; }

TestGraph::TestGraph(const TestStream& stream, const std::function<void()>& work) {
  void* const graph = captured(stream.get(), work);
  if (graph == nullptr) throw std::runtime_error("the capture was lost");
  call("cuGraphInstantiateWithFlags", &executable_, graph, 0ULL);
  call("cuGraphDestroy", graph);
}
TestGraph::~TestGraph() { give("cuGraphExecDestroy", executable_); }
void TestGraph::launch(const TestStream& stream) const { call("cuGraphLaunch", executable_, stream.get()); }

bool capture(const TestStream& stream, const std::function<void()>& work) {
  void* const graph = captured(stream.get(), work);
  if (graph != nullptr) call("cuGraphDestroy", graph);
  return graph != nullptr;
}

}  // namespace tutti::test
