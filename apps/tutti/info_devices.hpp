#pragma once
// The part of `tutti info` about CUDA devices: what is there, and which way the buffers on them take.

#include <optional>
#include <string>
#include <vector>

#include "lib/device/driver/survey.hpp"

namespace tutti::tool {

/// Whether a library takes pointers to memory of devices.
struct Taking {
  std::optional<bool> answer;  ///< Nothing: not known,
  std::string why_not_known;   ///< for this reason.
  std::string means{};         ///< By which it takes them: "cuda_copy, cuda_ipc"; empty: not known.
};

/// The devices as one process sees them.
struct DeviceReport {
  cuda::DeviceSurvey survey;
  Taking ucx, mpi;
  std::string staging;  ///< The value of TUTTI_STAGING; empty: it is not set.
};

/// How the data of buffers on devices travel.
struct BufferWay {
  std::string name;                 ///< "by CUDA IPC inside a node, staged elsewhere"; empty: there is no way,
  std::string why;                  ///< for this reason.
  std::string worker;               ///< Who copies and reduces; empty if there is no way.
  std::vector<std::string> faster;  ///< Faster ways that this machine has.
  [[nodiscard]] bool is_there() const { return !name.empty(); }
};
[[nodiscard]] BufferWay way_of(const DeviceReport& report);

/// Begins with an empty line, ends with a line's end.
[[nodiscard]] std::string to_text(const DeviceReport& report);

}  // namespace tutti::tool
