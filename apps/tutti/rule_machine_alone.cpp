// The machine that files of rules are compared with, in a build without MPI.
#include "apps/tutti/rule_text.hpp"
#include "lib/core/selection/site_rules.hpp"

namespace tutti::tool {

SiteFacts machine_here() { return {.cpu = processor_name(), .nodes = 0}; }

}  // namespace tutti::tool
