// Look-ups of entry points, and functions that are loaded by the first launch, as real drivers have them.
#include "tests/fake_cuda/tests/cuda_fixture.hpp"

namespace fake_cuda {
namespace {

class LookUps : public Cuda {
 protected:
  void look(const char* name, int version) {
    function_ = &function_;
    result_ = cuGetProcAddress(name, &function_, version, CU_GET_PROC_ADDRESS_DEFAULT, &status_);
  }
  void* function_ = nullptr;
  CUresult result_ = CUDA_SUCCESS;
  CUdriverProcAddressQueryResult status_{};
};

TEST_F(LookUps, FindFunctionsByTheirPlainNames) {
  look("cuMemAlloc", 12000);
  EXPECT_CUDA(result_);
  EXPECT_EQ(function_, reinterpret_cast<void*>(&cuMemAlloc));
  EXPECT_EQ(status_, CU_GET_PROC_ADDRESS_SUCCESS);
}

TEST_F(LookUps, OfUnknownNamesSucceedWithoutAFunction) {
  look("cuMemAllocate", 12000);
  EXPECT_CUDA(result_);
  EXPECT_EQ(function_, nullptr);
  EXPECT_EQ(status_, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  function_ = &function_;
  EXPECT_CUDA(cuGetProcAddress("cuMemAllocate", &function_, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
  EXPECT_EQ(function_, nullptr);
}

TEST_F(LookUps, OfNewerFunctionsThanTheVersionSucceedWithoutAFunction) {
  look("cuFuncLoad", 12000);
  EXPECT_CUDA(result_);
  EXPECT_EQ(function_, nullptr);
  EXPECT_EQ(status_, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  look("cuFuncLoad", 12040);
  EXPECT_CUDA(result_);
  EXPECT_EQ(function_, reinterpret_cast<void*>(&cuFuncLoad));
}

TEST_F(LookUps, OfNamesWithSeveralParameterListsFollowTheVersion) {
  void* found[3];
  for (const int i : {0, 1, 2}) {
    constexpr int versions[] = {10010, 11030, 12030};
    look("cuStreamGetCaptureInfo", versions[i]);
    EXPECT_EQ(status_, CU_GET_PROC_ADDRESS_SUCCESS);
    found[i] = function_;
  }
  EXPECT_NE(found[0], found[1]);
  EXPECT_NE(found[1], found[2]);
  for (const char* const name : {"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiateWithFlags",
                                 "cuGraphLaunch", "cuGraphExecDestroy", "cuGraphDestroy", "cuGraphGetNodes",
                                 "cuStreamUpdateCaptureDependencies", "cuThreadExchangeStreamCaptureMode"}) {
    look(name, 12030);
    EXPECT_EQ(status_, CU_GET_PROC_ADDRESS_SUCCESS) << name;
  }
}

TEST_F(LookUps, OfAVersionThatTheDriverHasNotAreErrors) {
  look("cuMemAlloc", 99000);
  EXPECT_CUDA_ERROR(result_, CUDA_ERROR_INVALID_VALUE);
}

TEST_F(LookUps, FunctionsAreLoadedWhenTheyAreNeeded) {
  CUmoduleLoadingMode mode{};
  CUfunctionLoadingState state{};
  EXPECT_CUDA(cuModuleGetLoadingMode(&mode));
  if (mode != CU_MODULE_LAZY_LOADING) GTEST_SKIP() << "modules are loaded as a whole here";
  const CUfunction function = function_of(module_of(store));
  EXPECT_CUDA(cuFuncIsLoaded(&state, function));
  EXPECT_EQ(state, CU_FUNCTION_LOADING_STATE_UNLOADED);
  EXPECT_CUDA(cuFuncLoad(function));
  EXPECT_CUDA(cuFuncIsLoaded(&state, function));
  EXPECT_EQ(state, CU_FUNCTION_LOADING_STATE_LOADED);
}

}  // namespace
}  // namespace fake_cuda
