// The machine that files of rules are compared with, in a build with MPI, which need not be initialised.
#include "apps/tutti/rule_text.hpp"
#include "lib/core/communicator/agreed_rules.hpp"

namespace tutti::tool {

SiteFacts machine_here() {
  SiteFacts machine = site_facts();
  machine.nodes = 0;
  return machine;
}

}  // namespace tutti::tool
