// Traces of the ranks of a job (tutti trace): an input is how many records the first rank's trace has, then the records
// of both. Headers and checksums, which only chance would find, are added; an odd number means that the rest is a
// trace as it is.
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "apps/tutti/trace_job.hpp"
#include "apps/tutti/trace_summary.hpp"
#include "apps/tutti/trace_views.hpp"
#include "tests/fuzz/target.hpp"

namespace tutti::fuzz {
namespace {

using namespace tool;

template <class Struct>
void append(std::string& bytes, const Struct& of) {
  bytes.append(reinterpret_cast<const char*>(&of), sizeof of);
}

std::string trace_of(int rank, std::string_view records) {
  trace::FileHeader file{.rank = rank, .ranks = 2};
  file.host = {"node"};
  std::string bytes;
  append(bytes, file);
  trace::BlockHeader header{.records = static_cast<std::uint32_t>(records.size() / trace::record_bytes),
                            .flags = trace::BlockHeader::last};
  std::string block;
  append(block, header);
  block += records;
  header.checksum = trace::checksum_of(block.data(), block.size());
  append(bytes, header);
  return bytes.append(records);
}

/// Whole ones, at most as many as fit a block.
std::string_view records_of(std::string_view bytes, std::size_t most) {
  const std::size_t count = std::min({bytes.size() / trace::record_bytes, most, trace::most_records});
  return bytes.substr(0, count * trace::record_bytes);
}

void show(const TracedJob& job) {
  require(!summary_text(job, 5).empty(), "a summary is empty");
  require(nlohmann::json::accept(summary_json(job, 5)), "a summary is no JSON");
  std::string timeline;
  write_timeline(job, [&](std::string_view piece) { timeline += piece; });
  require(nlohmann::json::accept(timeline), "a timeline is no JSON");
  for (const Instance& instance : job.instances)
    is_taken<apps::InputError>([&] {
      const std::string& name = job.communicators[static_cast<std::size_t>(instance.communicator)].name;
      require(operation_svg(job, instance.sequence, name).ends_with("</svg>\n"), "a picture has no end");
    });
}

void run(Input input) {
  Source source{input};
  const std::size_t number = source.next<std::uint8_t>();
  const std::string_view all = source.text();
  is_taken<apps::InputError>([&] {
    std::vector<TraceFile> files;
    if (number % 2 != 0) {
      files.push_back(read_trace("trace", all, Salvage::yes));
    } else {
      const std::string_view first = records_of(all, number / 2), second = all.substr(first.size());
      files.push_back(read_trace("first", trace_of(0, first), Salvage::yes));
      files.push_back(read_trace("second", trace_of(1, records_of(second, trace::most_records)), Salvage::yes));
    }
    show(job_of(std::move(files)));
  });
}

const Registration registration{{"trace", run}};

}  // namespace
}  // namespace tutti::fuzz
