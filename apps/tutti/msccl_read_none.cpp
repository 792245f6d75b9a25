// MSCCL's XML in a build without pugixml.
#include <fmt/format.h>

#include "apps/options.hpp"
#include "apps/tutti/msccl.hpp"

namespace tutti::tool {

MscclAlgorithm read_msccl(std::string_view /*text*/, std::string_view path) {
  throw apps::InputError(fmt::format(
      "{}: this tutti was built without pugixml, which reads XML (install libpugixml-dev and build again)", path));
}

}  // namespace tutti::tool
