// Says which UCX this process runs on. UCX is opened when asked for, never linked: an MPI may bring a UCX of its own,
// and a program that names another one gets parts of both, and crashes in MPI_Init.
#include <dlfcn.h>
#include <ucp/api/ucp.h>

#include <string>

#include "lib/runtime/components.hpp"

namespace tutti {
namespace {

constexpr const char* library = "libucp.so.0";

std::string running_version() {
  void* ucp = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);               // the MPI's, if it has one
  if (ucp == nullptr) ucp = dlopen(library, RTLD_LAZY | RTLD_LOCAL);  // to stay: unloaded, UCX leaks what it allocated
  if (ucp == nullptr) return "not found when running";
  // POSIX: what dlsym returns for a function may be converted to its type.
  const auto get_version = reinterpret_cast<decltype(&ucp_get_version)>(dlsym(ucp, "ucp_get_version"));
  unsigned major = 0, minor = 0, release = 0;
  get_version(&major, &minor, &release);
  return "running " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

const ComponentRegistration registration{[] { return Component{"UCX", running_version()}; }};

}  // namespace
}  // namespace tutti
