// Makes the UCX transport known to the library, which does not know it, and says what it runs on.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/mpi/network.hpp"
#include "lib/runtime/components.hpp"
#include "tutti/error.hpp"
#include "ucx/error.hpp"
#include "ucx/network.hpp"
#include "ucx/worker.hpp"

namespace tutti::ucx {
namespace {

/// What UCX prints of a context; it offers no other way to learn its transports and devices.
std::string printed(ucp_context_h context) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const stream = open_memstream(&text, &size);
  if (stream == nullptr) return {};
  library().context_print_info(context, stream);
  std::fclose(stream);
  std::string copy(text, size);
  std::free(text);
  return copy;
}

void add(std::string_view item, std::vector<std::string>& list) {
  if (std::ranges::find(list, item) == list.end()) list.emplace_back(item);
}

/// From lines as "#  resource 1  :  md 1  dev 1  flags -- tcp/lo".
std::string resources(ucp_context_h context) {
  std::vector<std::string> transports, devices;
  std::istringstream lines{printed(context)};
  for (std::string line; std::getline(lines, line);) {
    if (line.find("resource ") == std::string::npos) continue;
    const std::size_t slash = line.rfind('/'), start = line.find_last_of(' ', slash) + 1;
    if (slash == std::string::npos) continue;
    add(line.substr(start, slash - start), transports);
    add(line.substr(slash + 1, line.find_last_not_of(" \r") - slash), devices);
  }
  return fmt::format("transports {}; devices {}", fmt::join(transports, " "), fmt::join(devices, " "));
}

bool reads_cuda(ucp_context_h context) {
  ucp_context_attr_t attributes{};
  attributes.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
  check(library().context_query(context, &attributes), "ucp_context_query");
  return (attributes.memory_types >> static_cast<unsigned>(UCS_MEMORY_TYPE_CUDA) & 1) != 0;
}

std::string description() {
  try {
    const Library& ucx = library();
    const UniqueContext context = make_context(1);
    return fmt::format("running {}.{}.{}; {}; CUDA: {}", ucx.major, ucx.minor, ucx.release, resources(context.get()),
                       reads_cuda(context.get()) ? "yes" : "no");
  } catch (const Error& error) {
    return error.what();
  }
}

const ComponentRegistration component{[] { return Component{"UCX", description()}; }};

constexpr mpi::NetworkDriver driver{"ucx", UcxNetwork::open, Worker::finalize};
const mpi::NetworkRegistration registration{driver};

}  // namespace
}  // namespace tutti::ucx
