// MSCCL's algorithms, in XML: read, turned into schedules, proved, and written again.
#include "apps/tutti/msccl.hpp"

#include "apps/options.hpp"
#include "tests/fuzz/target.hpp"

namespace tutti::fuzz {
namespace {

using namespace tool;

bool is_small(const ScheduleFile& file) {
  Count scratch;
  for (const Schedule& schedule : file.schedules)
    scratch += schedule.scratch;
  return file.ranks <= 8 && file.chunks <= 64 && scratch <= Count{4096};
}

/// What is proved, and what MSCCL can say, is proved again when it comes back.
void run(Input input) {
  const Source source{input};
  is_taken<apps::InputError>([&] {
    ScheduleFile file = schedules_of(read_msccl(source.text(), "FILE"), Rank{0});
    if (!is_small(file)) return;
    settle(file);
    const FiledScene first{file, Count{file.chunks}, false, Unproved::shown};
    if (!first.scene().verdict.proved()) return;
    const std::string xml = to_xml(msccl_of(first.scene()));
    ScheduleFile again;
    try {
      again = schedules_of(read_msccl(xml, "AGAIN"), Rank{0});
    } catch (const apps::InputError& error) {
      throw Fault(error.what());
    }
    settle(again);
    const FiledScene second{again, Count{again.chunks}, false, Unproved::shown};
    require(second.scene().verdict.proved(), "what was proved is not right when it comes back");
  });
}

const Registration registration{{"msccl", run}};

}  // namespace
}  // namespace tutti::fuzz
