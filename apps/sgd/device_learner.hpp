#pragma once
// The learner on a GPU: all images of a step at once, by the kernels of device_kernels.cu. The bits are those of the
// host.

#include <memory>
#include <string>

#include "apps/sgd/data_set.hpp"
#include "apps/sgd/learner.hpp"
#include "apps/sgd/model.hpp"
#include "apps/sgd/settings.hpp"

namespace tutti::sgd {

/// Why this process cannot train on a device; empty: it can. For people: "--device: libcuda.so.1 was not found".
[[nodiscard]] std::string why_no_device();

/// Makes the device of a rank of the node current in this thread, for good: a communicator that is made then knows it.
/// Throws Error.
void use_device(int local_rank);

/// Images that are on their way through the layers at once take room for at most about so many values.
inline constexpr std::size_t most_values = std::size_t{1} << 25;

/// A learner on the device that this rank of the node has in turn. `data` must outlive it. Throws Error: there is none,
/// it has no memory left, or it fails.
template <class T>
[[nodiscard]] std::unique_ptr<Learner<T>> device_learner(const Shape& shape, const Split& data,
                                                         const Settings& settings, int local_rank,
                                                         std::size_t most = most_values);

}  // namespace tutti::sgd
