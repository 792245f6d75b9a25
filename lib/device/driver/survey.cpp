#include "lib/device/driver/survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "lib/device/driver/driver.hpp"
#include "lib/device/driver/image.hpp"

namespace tutti::cuda {
namespace {

/// The text that a function of the driver gives; empty: it has no such function, or no answer.
template <class Function>
std::string text_of(Function function, int device) {
  std::array<char, 96> text{};
  if (function == nullptr || function(text.data(), static_cast<int>(text.size()), device) != CUDA_SUCCESS) return {};
  return text.data();
}

std::optional<int> attribute(const Driver& table, CUdevice_attribute which, int device) {
  int value = 0;
  return table.DeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? std::optional{value} : std::nullopt;
}

DeviceFacts facts_of(const Driver& table, int device) {
  DeviceFacts facts{.name = text_of(table.DeviceGetName, device),
                    .capability = {},
                    .bus_id = text_of(table.DeviceGetPCIBusId, device)};
  std::ranges::transform(facts.bus_id, facts.bus_id.begin(), [](unsigned char letter) { return std::tolower(letter); });
  const auto major = attribute(table, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  const auto minor = attribute(table, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  if (major && minor) facts.capability = fmt::format("{}.{}", *major, *minor);
  std::size_t bytes = 0;
  if (table.DeviceTotalMem != nullptr && table.DeviceTotalMem(&bytes, device) == CUDA_SUCCESS)
    facts.bytes = static_cast<std::int64_t>(bytes);
  return facts;
}

std::optional<int> between(const Driver& table, CUdevice_P2PAttribute which, int from, int to) {
  int value = 0;
  if (table.DeviceGetP2PAttribute == nullptr || table.DeviceGetP2PAttribute(&value, which, from, to) != CUDA_SUCCESS)
    return std::nullopt;
  return value;
}

Reach reach_of(const Driver& table, int from, int to) {
  if (from == to) return {};
  Reach reach;
  int can = 0;
  if (table.DeviceCanAccessPeer != nullptr && table.DeviceCanAccessPeer(&can, from, to) == CUDA_SUCCESS)
    reach.direct = can != 0;
  if (const auto atomics = between(table, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, from, to))
    reach.atomics = *atomics != 0;
  reach.rank = between(table, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, from, to);
  return reach;
}

}  // namespace

DeviceSurvey survey_devices() {
  DeviceSurvey found{.is_built = true, .has_kernels = image() != nullptr, .why_not = why_no_driver()};
  const Driver* const usable = driver();
  const Driver* const table = usable == nullptr ? loaded_driver() : usable;
  int version = 0, devices = 0;
  if (table != nullptr && table->DriverGetVersion(&version) == CUDA_SUCCESS)
    found.driver = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  if (usable == nullptr || usable->DeviceGetCount(&devices) != CUDA_SUCCESS) return found;
  for (int device = 0; device < devices; ++device) {
    found.devices.push_back(facts_of(*usable, device));
    found.reaches.emplace_back();
    for (int other = 0; other < devices; ++other)
      found.reaches.back().push_back(reach_of(*usable, device, other));
  }
  return found;
}

}  // namespace tutti::cuda
