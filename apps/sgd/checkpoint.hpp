#pragma once
// Training saved to a file, to go on later.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/sgd/model.hpp"

namespace tutti::sgd {

/// Facts that must be the same before and after, or going on would be another training. The number of ranks, the
/// learning rate and the momentum may change.
struct Identity {
  std::string precision;    ///< "float" or "double"
  std::vector<int> widths;  ///< The widths of the model's layers.
  std::uint64_t seed = 0;
  std::uint64_t batch = 0;
  std::uint32_t data = 0;  ///< fingerprint()
  bool operator==(const Identity&) const = default;
};

/// The bytes of a checkpoint: the training that it belongs to, the progress, and a checksum of all of it.
template <class T>
[[nodiscard]] std::string encode(const Identity& identity, const Progress<T>& progress);

/// The progress in a checkpoint. Throws InputError, which states the expected and the found value, if the bytes are no
/// checkpoint, cut short or damaged, or belong to another training. `name` is the checkpoint's name in messages.
template <class T>
[[nodiscard]] Progress<T> decode(std::string_view name, std::string_view bytes, const Identity& identity);

}  // namespace tutti::sgd
