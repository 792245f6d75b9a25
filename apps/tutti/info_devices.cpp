#include "apps/tutti/info_devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/tutti/table.hpp"

namespace tutti::tool {
namespace {

constexpr const char* unknown = "unknown";

std::string or_unknown(const std::string& text) { return text.empty() ? unknown : text; }

std::string worker_of(const std::string& staging) {
  if (staging == "host") return "the host copies and reduces (TUTTI_STAGING=host)";
  if (staging == "device") return "the device copies and reduces (TUTTI_STAGING=device)";
  if (staging.empty() || staging == "auto")
    return "the host or the device copies and reduces, the cheaper for each call (TUTTI_STAGING=auto|host|device)";
  return fmt::format("TUTTI_STAGING is '{}', which calls refuse; allowed: auto, host, device", staging);
}

std::string why_none(const cuda::DeviceSurvey& survey) {
  if (survey.is_built && survey.why_not.empty() && !survey.has_kernels) return "the library was built without nvcc";
  return survey.why_not;
}

bool reach_each_other(const cuda::DeviceSurvey& survey) {
  for (const auto& row : survey.reaches)
    for (const cuda::Reach& reach : row)
      if (reach.direct == true) return true;
  return false;
}

std::string cell_of(const cuda::Reach& reach) {
  if (!reach.direct) return unknown;
  if (!*reach.direct) return "no";
  std::string text = "direct";
  if (reach.atomics == true) text += ", atomics";
  if (reach.rank) text += fmt::format(", rank {}", *reach.rank);
  return text;
}

std::string built(const cuda::DeviceSurvey& survey) {
  if (!survey.is_built) return "not built in";
  return survey.has_kernels ? "built in, with kernels" : "built in, without kernels: there was no nvcc";
}

std::string text_of(const Taking& taking) {
  if (!taking.answer) return fmt::format("not known whether it takes memory of devices: {}", taking.why_not_known);
  if (!*taking.answer) return "takes no memory of devices";
  return "takes memory of devices" + (taking.means.empty() ? "" : " (" + taking.means + ")");
}

std::string devices(const cuda::DeviceSurvey& survey) {
  std::vector<Cells> rows{{"device", "name", "capability", "memory", "bus id"}};
  for (std::size_t number = 0; number < survey.devices.size(); ++number) {
    const cuda::DeviceFacts& facts = survey.devices[number];
    constexpr double gibibyte = 1024.0 * 1024 * 1024;
    rows.push_back({fmt::to_string(number), or_unknown(facts.name), or_unknown(facts.capability),
                    facts.bytes == 0 ? unknown : fmt::format("{:.0f} GiB", static_cast<double>(facts.bytes) / gibibyte),
                    or_unknown(facts.bus_id)});
  }
  return aligned(rows, "  ");
}

std::string reaches(const cuda::DeviceSurvey& survey) {
  std::vector<Cells> rows{{"from / to"}};
  for (std::size_t from = 0; from < survey.reaches.size(); ++from) {
    rows[0].push_back(fmt::to_string(from));
    rows.push_back({fmt::to_string(from)});
    for (std::size_t to = 0; to < survey.reaches.size(); ++to)
      rows.back().push_back(from == to ? "X" : cell_of(survey.reaches[from][to]));
  }
  return aligned(rows, "  ");
}

std::string faster_text(const std::vector<std::string>& faster) {
  if (faster.empty()) return "nothing that is here: between nodes it takes CUDA in UCX or the MPI";
  return fmt::format("{}; taken where all ranks have it (TUTTI_DEVICE_PATH)", fmt::join(faster, "; "));
}

}  // namespace

BufferWay way_of(const DeviceReport& report) {
  const cuda::DeviceSurvey& survey = report.survey;
  if (std::string why = why_none(survey); !why.empty())
    return {.name = {}, .why = std::move(why), .worker = {}, .faster = {}};
  BufferWay way{.name = "by CUDA IPC inside a node, staged elsewhere",
                .why = "peers map each other's memory; other messages leave from pinned memory of the host",
                .worker = worker_of(report.staging),
                .faster = {}};
  if (survey.devices.size() > 1 && !reach_each_other(survey))
    way.name = "staged between devices, which do not reach each other, by CUDA IPC on one";
  if (report.ucx.answer == true) way.faster.emplace_back("UCX, given memory of devices (transport ucx or shm+ucx)");
  if (report.mpi.answer == true) way.faster.emplace_back("the MPI, given memory of devices");
  return way;
}

std::string to_text(const DeviceReport& report) {
  const cuda::DeviceSurvey& survey = report.survey;
  const BufferWay way = way_of(report);
  const bool has_none = survey.is_built && !survey.why_not.empty();
  std::vector<Cells> rows{{"CUDA", built(survey)}};
  if (survey.is_built)
    rows.push_back({"driver", survey.driver.empty() ? fmt::format("none: {}", survey.why_not) : survey.driver});
  rows.push_back({"UCX", text_of(report.ucx)});
  rows.push_back({"MPI", text_of(report.mpi)});
  if (way.is_there())
    rows.insert(
        rows.end(),
        {{"buffers", fmt::format("{}: {}", way.name, way.why)}, {"", way.worker}, {"faster", faster_text(way.faster)}});
  else
    rows.push_back({"buffers", fmt::format("on devices {}: {}", has_none ? "cannot be" : "are refused", way.why)});
  std::string text = fmt::format("\nCUDA devices, as the process that prints sees them\n{}", aligned(rows, "  "));
  if (!survey.devices.empty()) text += devices(survey);
  if (survey.devices.size() > 1) text += reaches(survey);
  return text;
}

}  // namespace tutti::tool
