#include <nvtx3/nvToolsExt.h>

#include "lib/watch/trace/ranges.hpp"

namespace tutti::trace {
namespace {

nvtxDomainHandle_t domain() {
  static auto* const own = nvtxDomainCreateA("tutti");
  return own;
}

}  // namespace

bool has_ranges() { return true; }

std::uint64_t begin_range(const char* name, std::int64_t bytes) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = bytes;
  return nvtxDomainRangeStartEx(domain(), &attributes);
}

void end_range(std::uint64_t range) { nvtxDomainRangeEnd(domain(), range); }

}  // namespace tutti::trace
