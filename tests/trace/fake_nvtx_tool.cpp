// Stands in for NVIDIA's tools: NVTX loads it by NVTX_INJECTION64_PATH. It tells on stderr of each range, in a line.
#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cstdint>
#include <cstdio>

namespace {

std::atomic<std::uint64_t> ranges{0};

nvtxDomainHandle_t create_domain(const char* name) {
  std::fprintf(stderr, "nvtx: domain %s\n", name);
  return reinterpret_cast<nvtxDomainHandle_t>(&ranges);
}

nvtxRangeId_t start_range(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  const nvtxRangeId_t range = ++ranges;
  std::fprintf(stderr, "nvtx: begin %s, payload %lld%s\n", attributes->message.ascii,
               static_cast<long long>(attributes->payload.llValue),
               domain == reinterpret_cast<nvtxDomainHandle_t>(&ranges) ? "" : ", in another domain");
  return range;
}

void end_range(nvtxDomainHandle_t /*domain*/, nvtxRangeId_t range) {
  std::fprintf(stderr, "nvtx: end of %s\n", range >= 1 && range <= ranges ? "a range" : "no range");
}

template <class Function>
void take(NvtxFunctionTable table, unsigned id, Function* function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

/// Under the name by which NVTX looks for it.
extern "C" __attribute__((visibility("default"))) int initialize(NvtxGetExportTableFunc_t get_table) __asm__(
    "InitializeInjectionNvtx2");

int initialize(NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  take(table, NVTX_CBID_CORE2_DomainCreateA, create_domain);
  take(table, NVTX_CBID_CORE2_DomainRangeStartEx, start_range);
  take(table, NVTX_CBID_CORE2_DomainRangeEnd, end_range);
  return 1;
}
