// The reports of ranks as JSON (tutti info), and what is printed of them: an input is two reports, with a line's end
// between them.
#include <nlohmann/json.hpp>

#include "apps/tutti/info_report.hpp"
#include "tests/fuzz/target.hpp"

namespace tutti::fuzz {
namespace {

using topology::Report;

void run(Input input) {
  Source source{input};
  std::vector<Report> reports;
  while (!source.is_over() && reports.size() < 4)
    if (!is_taken<std::exception>(
            [&] { reports.push_back(tool::report_from_json(std::string{source.text_to('\n')})); }))
      return;
  if (reports.empty()) return;
  for (const Report& report : reports) {
    const std::string text = tool::to_json(report);
    require(tool::to_json(tool::report_from_json(text)) == text, "a report is read as another one");
  }
  const topology::Job job = topology::job_of(reports);
  require(!to_text(job, tool::Pairs::of_all_nodes).empty(), "a job has no text");
  require(!to_json(job, tool::DeviceReport{}).empty(), "a job has no JSON");
}

const Registration registration{{"report", run}};

}  // namespace
}  // namespace tutti::fuzz
