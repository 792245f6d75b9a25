// Files of schedules: read, proved and scaled.
#include "apps/options.hpp"
#include "apps/tutti/scene.hpp"
#include "lib/core/files/schedule_file.hpp"
#include "tests/fuzz/target.hpp"
#include "tutti/error.hpp"

namespace tutti::fuzz {
namespace {

/// What is proved for a chunk an element is proved for other counts, or refused for them.
void run(Input input) {
  Source source{input};
  const auto count = static_cast<std::int64_t>(source.below(64));
  is_taken<ArgumentError>([&] {
    const ScheduleFile file = read_schedule_file(source.text(), "FILE");
    if (file.ranks > 8 || file.chunks > 64) return;
    const tool::FiledScene first{file, Count{file.chunks}, false, tool::Unproved::shown};
    if (!first.scene().verdict.proved()) return;
    try {
      const tool::FiledScene other{file, Count{count}, false, tool::Unproved::shown};
      require(other.scene().verdict.proved(), "what was proved is not right for another count");
    } catch (const apps::InputError&) {
    }
  });
}

const Registration registration{{"schedules", run}};

}  // namespace
}  // namespace tutti::fuzz
