#pragma once
// Events, of this process and between processes.

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "tests/fake_cuda/driver/capture.hpp"

namespace fake_cuda {

struct Event {
  /// Where other processes see it.
  struct Shared {
    std::atomic<std::uint64_t> recorded, completed;
    SharedClock clock;  ///< When it was last completed.
  };
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  Context* context = nullptr;
  Shared* shared = nullptr;  ///< nullptr: for this process alone.
  Point point{};             ///< The last record in this process.
  CapturedPoint captured{};  ///< If it was recorded in a captured stream.
  unsigned flags = 0;
  bool is_imported = false;
  int file = -1;
  std::shared_ptr<std::atomic<double>> at_ms = std::make_shared<std::atomic<double>>(0);
};
using EventPointer = std::shared_ptr<Event>;

CUevent add_event(EventPointer event);
/// nullptr: there is no such.
EventPointer find_event(CUevent handle);
bool remove_event(CUevent handle);
/// False: there is no memory for it.
bool map_shared(Event& event);

}  // namespace fake_cuda
