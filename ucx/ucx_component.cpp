// Says which UCX this program runs on.
#include <ucp/api/ucp.h>

#include <string>

#include "lib/runtime/components.hpp"

namespace tutti {
namespace {

Component describe() {
  unsigned major = 0, minor = 0, release = 0;
  ucp_get_version(&major, &minor, &release);
  return {"UCX", "running " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release)};
}

const ComponentRegistration registration{describe};

}  // namespace
}  // namespace tutti
