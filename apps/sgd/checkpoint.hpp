#pragma once
// Training saved to a file, to go on later.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::sgd {

/// The state of a training: all that is needed to go on, the same on all ranks.
template <class T>
struct Progress {
  int epochs = 0;                        ///< Completed.
  std::int64_t steps = 0;                ///< Of the optimizer, all epochs together.
  double scale = 1;                      ///< Of the loss, for gradients of 16 bits.
  std::int64_t unscaled = 0;             ///< Steps since the scale has changed.
  std::vector<T> weights, mean, square;  ///< `square`: of Adam only.
};

/// Facts that must be the same before and after, or going on would be another training. The number of ranks, how they
/// share the work, the learning rate and the momentum may change.
struct Identity {
  std::string precision;  ///< As Settings has it.
  std::string model;      ///< Network::name()
  std::string optimizer;  ///< As Settings has it.
  std::uint64_t parameters = 0;
  std::uint64_t seed = 0;
  std::uint64_t batch = 0, accumulate = 1;
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
