#pragma once
// The weights that a network computes with.

#include <cstdint>
#include <optional>

#include "apps/sgd/machine.hpp"
#include "apps/sgd/network.hpp"
#include "apps/sgd/tasks.hpp"

namespace tutti::sgd {

/// All parameters, in numbers of T, or in numbers of 16 bits that are widened layer by layer as they are needed.
template <class T>
class Parameters {
 public:
  Parameters(const Machine& machine, const Network& network, std::optional<Format16> format);

  /// The parameters of a layer. They stay until those of another layer are asked for.
  [[nodiscard]] const T* of(const Layer& layer) const;
  /// Takes parameters from `first` on: rounded, if they are kept in 16 bits.
  void take(const T* parameters, std::size_t first, std::size_t count) const;

  /// The numbers as they are kept, which travel between ranks.
  [[nodiscard]] void* data() const { return format_ ? static_cast<void*>(narrow_.data()) : wide_.data(); }
  /// The numbers of T; nullptr if they are kept in 16 bits.
  [[nodiscard]] T* wide() const { return format_ ? nullptr : wide_.data(); }
  [[nodiscard]] std::size_t bytes() const { return narrow_.bytes() + (format_ ? 0 : wide_.bytes()); }

 private:
  const Machine& machine_;
  std::optional<Format16> format_;
  Array<std::uint16_t> narrow_;
  Array<T> wide_;  ///< All, or of the layer that was asked for last.
};

extern template class Parameters<float>;
extern template class Parameters<double>;

}  // namespace tutti::sgd
