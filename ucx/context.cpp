#include "ucx/context.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

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

Resources resources_of(ucp_context_h context) { return resources_in(printed(context)); }

bool reads_cuda(ucp_context_h context) {
  ucp_context_attr_t attributes{};
  attributes.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
  check(library().context_query(context, &attributes), "ucp_context_query");
  return (attributes.memory_types >> static_cast<unsigned>(UCS_MEMORY_TYPE_CUDA) & 1) != 0;
}

}  // namespace tutti::ucx
