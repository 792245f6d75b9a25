#pragma once
// Which parts of a range of memory are taken. Pure bookkeeping.

#include <cstdint>
#include <map>
#include <optional>

namespace tutti::shm {

/// Hands out parts of [0, bytes), the lowest that fits. Every part begins at a multiple of `unit` and takes whole ones.
class Arena {
 public:
  Arena(std::int64_t bytes, std::int64_t unit) : bytes_(bytes), unit_(unit), free_{{0, bytes / unit * unit}} {}
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  struct Part {
    std::int64_t offset, bytes;
  };
  /// At least `bytes` bytes, 1 or more; nothing if there is no room.
  [[nodiscard]] std::optional<Part> take(std::int64_t bytes);
  /// Frees the part that begins at `offset`, which must have been taken, and returns it.
  Part give_back(std::int64_t offset);

 private:
  std::int64_t bytes_, unit_;
  std::map<std::int64_t, std::int64_t> free_, taken_;  ///< Ends by beginnings. Free parts never touch.
};

}  // namespace tutti::shm
