// What one process asks of the limits that the library's design rests on: the ids of contexts, and how many streams may
// wait before they hold up others.
#include <array>
#include <bit>

#include "tests/gpu/work.hpp"

namespace tutti::gpu {
namespace {

constexpr int most_streams = 40;
constexpr double patience_seconds = 0.2;  ///< So long an operation that nothing holds up is given.

/// Whether what stands in the stream is over in time.
bool is_soon_over(CUevent event, CUstream stream) {
  check(functions().EventRecord(event, stream), "cuEventRecord");
  for (const double begin = now(); now() - begin < patience_seconds;) {
    const CUresult result = functions().EventQuery(event);
    if (result == CUDA_SUCCESS) return true;
    if (result != CUDA_ERROR_NOT_READY) check(result, "cuEventQuery");
  }
  return false;
}

/// Streams that wait for a word of the host's, one after another. All is made before the first one waits.
class WaitingStreams {
 public:
  WaitingStreams() : word_{pinned_memory(64)}, event_{new_event()} {
    need(functions().StreamWaitValue32, "cuStreamWaitValue32");
    for (CUstream& stream : streams_)
      stream = new_stream();
    let_wait(0);
  }

  /// With how many waiting streams an operation in the next one is held up; most_streams: with none of those numbers.
  template <class Post>
  int number_that_holds_up(Post post) {
    for (int waiting = 0; waiting < most_streams; ++waiting) {
      auto* const next = streams_[static_cast<std::size_t>(waiting)];
      post(next);
      if (!is_soon_over(event_, next)) return waiting;
      check(functions().StreamWaitValue32(next, word_, 1, CU_STREAM_WAIT_VALUE_GEQ), "cuStreamWaitValue32");
    }
    return most_streams;
  }
  void release() {
    let_wait(1);
    for (auto* const stream : streams_)
      finish(stream);
    let_wait(0);
  }

 private:
  void let_wait(std::uint32_t value) const { *std::bit_cast<volatile std::uint32_t*>(word_) = value; }

  CUdeviceptr word_;
  CUevent event_;
  std::array<CUstream, most_streams> streams_{};
};

CUstream stream_of_greatest_priority() {
  const Functions& f = functions();
  if (f.CtxGetStreamPriorityRange == nullptr || f.StreamCreateWithPriority == nullptr) return nullptr;
  int least = 0, greatest = 0;
  CUstream stream = nullptr;
  check(f.CtxGetStreamPriorityRange(&least, &greatest), "cuCtxGetStreamPriorityRange");
  check(f.StreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest), "cuStreamCreateWithPriority");
  return stream;
}

}  // namespace

/// With how many waiting streams (CUDA_DEVICE_MAX_CONNECTIONS as it is) copies and kernels of another one are held up,
/// and whether a stream of the greatest priority still passes.
void ask_waiting_streams(Team& team, const Effort& /*effort*/) {
  use_device(0);
  const CUdeviceptr memory = device_memory(64), pinned = pinned_memory(64);
  auto* const kernel = empty_kernel();
  auto* const event = new_event();
  auto* const urgent = stream_of_greatest_priority();
  WaitingStreams streams;
  const auto tell = [&](const std::string& what, auto post) {
    auto* const first = urgent != nullptr ? urgent : new_stream();
    post(first);  // loads what it needs: nothing is loaded while a stream waits
    finish(first);
    const int number = streams.number_that_holds_up(post);
    const std::string asked = "waiting streams and " + what, are = std::to_string(number) + " waiting streams ";
    team.tell(asked, are + (number == most_streams ? "do not hold it up" : "hold it up"));
    if (urgent != nullptr) {
      post(urgent);
      team.tell(asked + ", greatest priority", std::string{is_soon_over(event, urgent) ? "passes" : "is held up"});
    }
    streams.release();
  };
  tell("a copy on the device", [&](CUstream stream) { copy(memory + 32, memory, 8, stream); });
  tell("a copy to the host", [&](CUstream stream) { copy(pinned, memory, 8, stream); });
  tell("a kernel", [&](CUstream stream) { launch(kernel, stream); });
}

/// What the id of a primary context is after a reset, by which the library tells that a context has gone.
void ask_contexts(Team& team, const Effort& /*effort*/) {
  const Functions& f = functions();
  need(f.CtxGetId, "cuCtxGetId");
  need(f.DevicePrimaryCtxReset, "cuDevicePrimaryCtxReset");
  auto* const first = use_device(0);
  unsigned long long before = 0, gone = 0, after = 0;
  check(f.CtxGetId(first, &before), "cuCtxGetId");
  check(f.DevicePrimaryCtxReset(0), "cuDevicePrimaryCtxReset");
  if (f.CtxGetId(first, &gone) != CUDA_SUCCESS)
    team.tell("id_of_a_context_that_was_reset", std::string{"an error"});
  else
    team.tell("id_of_a_context_that_was_reset", std::string{gone == before ? "as before" : "another"});
  auto* const second = use_device(0);
  check(f.CtxGetId(second, &after), "cuCtxGetId");
  team.tell("handle_of_the_context_made_next", std::string{first == second ? "as before" : "another"});
  team.tell("id_of_the_context_made_next", std::string{after == before ? "as before" : "another"});
}

}  // namespace tutti::gpu
