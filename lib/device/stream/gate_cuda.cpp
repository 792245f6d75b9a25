#include "lib/device/stream/gate.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/devices.hpp"
#include "lib/device/driver/driver.hpp"
#include "lib/device/driver/pending_waits.hpp"
#include "lib/device/driver/relaxed_capture.hpp"
#include "lib/device/staging/device_port.hpp"
#include "tutti/error.hpp"

namespace tutti::stream {
namespace {

using cuda::check;
using cuda::driver;
using Word = std::atomic<std::uint32_t>;

/// A page of words in pinned memory. The host sets a word to 1 when its operation has left; the stream waits for that,
/// and sets it to 0 again.
class Words {
 public:
  explicit Words(int device)
      : can_wait(device::can_wait_in_streams(device)), device_(device), page_(device::allocate_pinned(device, page)) {
    if (page_.data == nullptr) throw Error("no page of pinned host memory for calls in streams");
    for (std::size_t i = 0; i < most; ++i)
      free_.push_back(new (page_.data + i * sizeof(Word)) Word{0});
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() { device::free_pinned(device_, page_.data, page); }

  /// Streams of the device wait for words; else for functions of the host.
  const bool can_wait;
  [[nodiscard]] CUdeviceptr on_device(const Word* word) const {
    return cuda::address(page_.on_device + (reinterpret_cast<const std::byte*>(word) - page_.data));
  }
  /// Throws Error if all are in use.
  Word* take() {
    std::erase_if(left_, [this](Word* word) {
      if (word->load(std::memory_order_acquire) != 0) return false;
      free_.push_back(word);
      return true;
    });
    if (free_.empty()) throw Error("more than 1024 calls in streams at a time that the host moves");
    Word* const word = free_.back();
    free_.pop_back();
    return word;
  }
  /// No stream waits for it.
  void give_back(Word* word) noexcept { free_.push_back(word); }
  void leave(Word* word) noexcept {
    left_.push_back(word);  // has room for all
    word->store(1, std::memory_order_release);
  }
  /// Whether a stream waits, or has not yet seen that it need not.
  [[nodiscard]] bool are_pending() const noexcept {
    std::size_t over = 0;
    for (const Word* word : left_)
      over += word->load(std::memory_order_acquire) == 0 ? 1 : 0;
    return free_.size() + over < most;
  }

 private:
  static constexpr std::int64_t page = 4096;
  static constexpr std::size_t most = page / sizeof(Word);
  int device_;
  device::Pinned page_;
  std::vector<Word*> free_;
  std::vector<Word*> left_ = [] {
    std::vector<Word*> words;
    words.reserve(most);
    return words;
  }();
};

class CudaGate final : public Gate {
 public:
  [[nodiscard]] bool is_used() const { return event_ != nullptr; }
  /// Throws Error: it is not used then.
  void put(int device, CUstream stream, Words& words) {
    device_ = &cuda::Devices::get().at(device);
    words_ = &words;
    word_ = nullptr;
    stream_ = stream;
    const cuda::ScopedContext scope{device_->context()};
    event_ = device_->take_event();
    try {
      put(stream);
    } catch (...) {
      if (word_ != nullptr) words_->give_back(word_);
      give_event_back();
      throw;
    }
  }

  [[nodiscard]] bool is_open() override {
    const cuda::ScopedContext scope{device_->context()};
    const cuda::RelaxedCapture relaxed;
    const CUresult result = driver()->EventQuery(event_);
    if (result != CUDA_ERROR_NOT_READY) check(result, "cuEventQuery");
    return result == CUDA_SUCCESS;
  }
  void leave() noexcept override {
    let_go();
    give_event_back();
  }
  [[nodiscard]] std::optional<std::uint64_t> work_done() const override {
    const cuda::Device::Work& work = device_->work;
    return work.done < work.posted ? std::optional{work.done} : std::nullopt;
  }
  /// The stream goes on.
  void let_go() noexcept {
    if (Word* const word = std::exchange(word_, nullptr); word != nullptr) words_->leave(word);
  }
  [[nodiscard]] CUstream stream() const { return stream_; }

 private:
  /// Waits on devices whose streams wait for no values. It takes the driver's thread for such functions, so that calls
  /// in several streams wait for each other.
  static void CUDA_CB wait_on_host(void* data) {
    Word& word = *static_cast<Word*>(data);
    while (word.load(std::memory_order_acquire) == 0)
      sched_yield();
    word.store(0, std::memory_order_release);
  }
  void give_event_back() noexcept { device_->give_back(std::exchange(event_, nullptr)); }
  void put(CUstream stream) {
    check(driver()->EventRecord(event_, stream), "cuEventRecord");
    word_ = words_->take();
    if (!words_->can_wait) {
      check(driver()->LaunchHostFunc(stream, wait_on_host, word_), "cuLaunchHostFunc");
      return;
    }
    const CUdeviceptr address = words_->on_device(word_);
    std::array<CUstreamBatchMemOpParams, 2> flags{};
    flags[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    flags[0].waitValue.address = address;
    flags[0].waitValue.value = 1;
    flags[0].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    flags[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    flags[1].writeValue.address = address;
    check(driver()->StreamBatchMemOp(stream, flags.size(), flags.data(), 0), "cuStreamBatchMemOp");
  }

  cuda::Device* device_ = nullptr;
  Words* words_ = nullptr;
  CUevent event_ = nullptr;  ///< nullptr: not used.
  Word* word_ = nullptr;
  CUstream stream_ = nullptr;
};

/// CUDA's setting of the hardware queues that the streams of a context share, whose default is 8.
int hardware_queues() {
  const char* const text = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  const int asked = text == nullptr ? 0 : std::atoi(text);
  return asked > 0 ? asked : 8;
}

class CudaGates final : public Gates, private cuda::StreamWaits {
 public:
  /// Beside a stream that waits, pages stay until the process ends.
  ~CudaGates() override {
    if (any_possible())
      for (auto& [device, words] : words_)
        static_cast<void>(words.release());
  }
  [[nodiscard]] Gate& add(int device, CUstream_st* stream) override {
    if (hardware_queues() == 1)
      throw Error(
          "CUDA_DEVICE_MAX_CONNECTIONS is 1, so that copies of a call which the host moves would wait behind the "
          "stream that waits for them; allowed: more queues");
    prepare(device);
    Words& words = *words_.at(device);
    if (!words.can_wait && driver()->LaunchHostFunc == nullptr)
      throw Error("the driver has neither streams that wait for words nor cuLaunchHostFunc");
    const auto unused = std::ranges::find(all_, false, &CudaGate::is_used);
    CudaGate& gate = unused == all_.end() ? all_.emplace_back() : *unused;
    gate.put(device, stream, words);
    return gate;
  }
  [[nodiscard]] bool is_prepared(int device) const override { return words_.contains(device); }
  void prepare(int device) override {
    if (!is_prepared(device)) words_.emplace(device, std::make_unique<Words>(device));
  }
  [[nodiscard]] bool is_busy() const noexcept override {
    return std::ranges::any_of(words_, [](const auto& each) { return each.second->are_pending(); });
  }

  void let_all_go() noexcept override {
    for (CudaGate& gate : all_)
      if (gate.is_used()) gate.let_go();
  }
  [[nodiscard]] bool share_queues() const override { return waiting_streams() >= hardware_queues(); }
  [[nodiscard]] std::string in_words() const override {
    return fmt::format("{} streams wait for calls that the host moves, and a context has {} hardware queues",
                       waiting_streams(), hardware_queues());
  }

 private:
  [[nodiscard]] bool are_pending() const noexcept override { return is_busy(); }
  [[nodiscard]] int waiting_streams() const {
    int count = 0;
    for (auto gate = all_.begin(); gate != all_.end(); ++gate)
      count += gate->is_used() && std::none_of(all_.begin(), gate, [&](const CudaGate& before) {
                 return before.is_used() && before.stream() == gate->stream();
               });
    return count;
  }
  std::map<int, std::unique_ptr<Words>> words_;  ///< By device.
  std::deque<CudaGate> all_{};                   ///< As many as were used at once.
};

}  // namespace

std::unique_ptr<Gates> make_gates() { return std::make_unique<CudaGates>(); }

int device_of(CUstream_st* stream) {
  CUcontext context = nullptr;
  if (driver() == nullptr) throw Error(cuda::why_no_driver());
  check(driver()->StreamGetCtx(stream, &context), "cuStreamGetCtx");
  return cuda::Devices::get().number_of(context, 0);
}

bool is_captured(CUstream_st* stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  check(driver()->StreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr), "cuStreamGetCaptureInfo");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void let_captures_be() noexcept {
  static thread_local bool is_done = false;
  if (is_done || cuda::loaded_driver() == nullptr) return;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  static_cast<void>(driver()->ThreadExchangeStreamCaptureMode(&mode));
  is_done = true;
}

}  // namespace tutti::stream
