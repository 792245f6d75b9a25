// What the driver tells of devices, also where the fake driver lacks functions (FAKE_CUDA_MISSING) or has no peers.
#include "lib/device/driver/survey.hpp"

#include <cstdlib>
#include <string_view>

#include "tests/cuda/cuda_support.hpp"

namespace tutti::cuda {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// With the devices of FAKE_CUDA_DEVICES.
class Survey : public testing::Test {
 protected:
  void SetUp() override {
    const bool is_fake = of_driver<decltype(fake_cuda_counters)>("fake_cuda_counters") != nullptr;
    if (!is_fake || variable("FAKE_CUDA_DEVICES").empty())
      GTEST_SKIP() << "for the fake driver, with devices that are known (FAKE_CUDA_DEVICES)";
  }
  DeviceSurvey found_ = survey_devices();
  std::string_view missing_ = variable("FAKE_CUDA_MISSING");
};

TEST_F(Survey, DescribesDevices) {
  EXPECT_TRUE(found_.is_built);
  EXPECT_EQ(found_.driver, "13.0");
  const bool has_devices = variable("FAKE_CUDA_DEVICES") != "0";
  EXPECT_EQ(found_.why_not, has_devices ? "" : "the CUDA driver cannot be used: CUDA_ERROR_NO_DEVICE");
  ASSERT_EQ(found_.devices.size(), has_devices ? 2U : 0U);
  if (!has_devices) return;
  const bool has_texts = missing_.empty();
  EXPECT_EQ(found_.devices[1].name, has_texts ? "Fake CUDA device 1" : "");
  EXPECT_EQ(found_.devices[1].bus_id, has_texts ? "0000:f1:00.0" : "");
  EXPECT_EQ(found_.devices[1].bytes, has_texts ? std::int64_t{4} << 30 : 0);
  EXPECT_EQ(found_.devices[1].capability, "9.0");
}

TEST_F(Survey, SaysHowDevicesReachEachOther) {
  ASSERT_EQ(found_.reaches.size(), found_.devices.size());
  if (found_.devices.empty()) return;
  const Reach& reach = found_.reaches[0][1];
  EXPECT_EQ(reach.direct.has_value(), missing_.empty());
  EXPECT_EQ(reach.rank.has_value(), missing_.empty());
  EXPECT_FALSE(found_.reaches[1][1].direct);
  if (!missing_.empty()) return;
  EXPECT_EQ(reach.direct, variable("FAKE_CUDA_PEER") != "0");
  EXPECT_EQ(reach.atomics, variable("FAKE_CUDA_PEER") != "0");
}

/// It would take memory of the device, and a second.
TEST_F(Survey, MakesNoContext) { EXPECT_EQ(fake_counters().contexts, 0U); }

}  // namespace
}  // namespace tutti::cuda
