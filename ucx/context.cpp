#include "ucx/context.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "ucx/error.hpp"

namespace tutti::ucx {
namespace {

/// The text that UCX prints of a context; it offers no other way to learn its transports and devices.
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

}  // namespace

UniqueContext make_context(int processes) {
  UniqueConfig config;
  check(library().config_read(nullptr, nullptr, config.receive()), "ucp_config_read");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS;
  params.features = UCP_FEATURE_TAG;
  params.estimated_num_eps = static_cast<std::size_t>(processes);
  UniqueContext context;
  check(library().init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config.get(), context.receive()), "ucp_init");
  return context;
}

/// Every kind of it has a device of this name.
bool Resources::share_memory() const { return std::ranges::find(devices, "memory") != devices.end(); }

Resources resources_of(ucp_context_h context) {
  Resources found;
  // Lines as "#  resource 1  :  md 1  dev 1  flags -- tcp/lo".
  std::istringstream lines{printed(context)};
  for (std::string line; std::getline(lines, line);) {
    if (line.find("resource ") == std::string::npos) continue;
    const std::size_t slash = line.rfind('/'), start = line.find_last_of(' ', slash) + 1;
    if (slash == std::string::npos) continue;
    add(line.substr(start, slash - start), found.transports);
    add(line.substr(slash + 1, line.find_last_not_of(" \r") - slash), found.devices);
  }
  return found;
}

bool reads_cuda(ucp_context_h context) {
  ucp_context_attr_t attributes{};
  attributes.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
  check(library().context_query(context, &attributes), "ucp_context_query");
  return (attributes.memory_types >> static_cast<unsigned>(UCS_MEMORY_TYPE_CUDA) & 1) != 0;
}

}  // namespace tutti::ucx
