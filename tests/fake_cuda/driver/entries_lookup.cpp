// Entry points: versions, names of errors, and the look-up of entry points.
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/driver/settings.hpp"

using namespace fake_cuda;

namespace {

/// Where a name means different functions by the version that is asked for; else the newest of a name is taken.
struct Versioned {
  const char *name, *exported;
  int since;
};
constexpr Versioned by_version[] = {
    {"cuCtxCreate", "cuCtxCreate_v4", 13000},
    {"cuCtxCreate", "cuCtxCreate_v2", 0},
    {"cuEventElapsedTime", "cuEventElapsedTime_v2", 12080},
    {"cuEventElapsedTime", "cuEventElapsedTime", 0},
    {"cuFuncLoad", "cuFuncLoad", 12040},
    {"cuFuncIsLoaded", "cuFuncIsLoaded", 12040},
    {"cuGraphInstantiate", "cuGraphInstantiateWithFlags", 12000},
    {"cuGraphInstantiate", "cuGraphInstantiate_v2", 10000},
    {"cuGraphNodeGetDependencies", "cuGraphNodeGetDependencies_v2", 12030},
    {"cuGraphNodeGetDependencies", "cuGraphNodeGetDependencies", 10000},
    {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v3", 12030},
    {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_v2", 11030},
    {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo", 10010},
    {"cuStreamUpdateCaptureDependencies", "cuStreamUpdateCaptureDependencies_v2", 12030},
    {"cuStreamUpdateCaptureDependencies", "cuStreamUpdateCaptureDependencies", 11030}};

void* exported(const std::string& name) {
  static void* const self = [] {
    Dl_info information{};
    ::dladdr(reinterpret_cast<void*>(&cuInit), &information);
    return ::dlopen(information.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return ::dlsym(self, name.c_str());
}

struct Found {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

/// FAKE_CUDA_MISSING=NAME,...: as if the driver did not have them.
bool is_missing(const std::string& name) {
  return ("," + settings().missing + ",").find("," + name + ",") != std::string::npos;
}

Found find(const std::string& name, int version) {
  if (is_missing(name)) return {};
  Found found;
  for (const Versioned& each : by_version) {
    if (name != each.name) continue;
    if (version >= each.since) return {exported(each.exported), CU_GET_PROC_ADDRESS_SUCCESS};
    found.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  }
  if (found.status != CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND) return found;
  for (const char* const suffix : {"_v3", "_v2", ""})
    if (void* const function = exported(name + suffix)) return {function, CU_GET_PROC_ADDRESS_SUCCESS};
  return {};
}

#define FAKE_CUDA_ERROR_NAME(error) \
  case error:                       \
    return #error

const char* name_of(CUresult error) {
  switch (error) {
    FAKE_CUDA_ERROR_NAME(CUDA_SUCCESS);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_INVALID_VALUE);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_OUT_OF_MEMORY);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_NOT_INITIALIZED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_NO_DEVICE);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_INVALID_DEVICE);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_INVALID_IMAGE);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_INVALID_CONTEXT);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_MAP_FAILED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_INVALID_PTX);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_INVALID_HANDLE);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_NOT_FOUND);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_NOT_READY);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_ILLEGAL_ADDRESS);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_LAUNCH_FAILED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_NOT_PERMITTED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_NOT_SUPPORTED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_CONTEXT_IS_DESTROYED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_ILLEGAL_STATE);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_STREAM_CAPTURE_MERGE);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_CAPTURED_EVENT);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    FAKE_CUDA_ERROR_NAME(CUDA_ERROR_UNKNOWN);
    default:
      return nullptr;
  }
}

/// A name that is not there is no error.
CUresult lookup(const char* name, int version, Found& found) {
  FAKE_CUDA_REQUIRE(name != nullptr && version <= driver_version);
  found = find(name, version);
  const bool is_there = found.function != nullptr;
  log(is_there ? 2 : 1, "cuGetProcAddress %s, version %d: %s", name, version, is_there ? "found" : "missing");
  return CUDA_SUCCESS;
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuGetErrorName(CUresult error, const char** name) {
  FAKE_CUDA_REQUIRE(name != nullptr);
  *name = name_of(error);
  return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuGetErrorString(CUresult error, const char** text_of_it) {
  return cuGetErrorName(error, text_of_it);
}
FAKE_CUDA_EXPORT CUresult cuGetExportTable(const void** table, const CUuuid*) {
  log(1, "cuGetExportTable: there is none");
  if (table != nullptr) *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}
FAKE_CUDA_EXPORT CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t,
                                           CUdriverProcAddressQueryResult* status) {
  FAKE_CUDA_REQUIRE(function != nullptr);
  Found found;
  const CUresult result = lookup(name, version, found);
  *function = found.function;
  if (status != nullptr) *status = found.status;
  return result;
}
#undef cuGetProcAddress
/// The look-up of CUDA 11 has no status: a name that is not there is an error.
FAKE_CUDA_EXPORT CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t) {
  FAKE_CUDA_REQUIRE(function != nullptr);
  Found found;
  const CUresult result = lookup(name, version, found);
  *function = found.function;
  return result == CUDA_SUCCESS && *function == nullptr ? CUDA_ERROR_NOT_FOUND : result;
}
