// The part of tutti info about CUDA devices, for machines that are not at hand.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "apps/tutti/info_devices.hpp"
#include "apps/tutti/info_report.hpp"

namespace tutti::tool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Two devices that reach each other over NVLink, and a third that they do not reach.
DeviceReport three_devices() {
  DeviceReport report{.survey = {.is_built = true, .has_kernels = true, .driver = "13.0"},
                      .ucx = {false, {}},
                      .mpi = {{}, "it does not tell"},
                      .staging = {}};
  const cuda::Reach far{.direct = false, .atomics = false, .rank = {}}, near{true, true, 0};
  for (int device = 0; device < 3; ++device)
    report.survey.devices.push_back({"Card", "9.0", "0000:3b:00.0", std::int64_t{80} << 30});
  report.survey.devices[2] = {};
  report.survey.reaches = {{{}, near, far}, {near, {}, far}, {{}, far, {}}};
  return report;
}

nlohmann::json json_of(const DeviceReport& report) {
  return nlohmann::json::parse(to_json(topology::Job{}, report)).at("cuda");
}

TEST(DeviceInfo, ShowsDevicesAndHowTheyReachEachOther) {
  const std::string text = to_text(three_devices());
  EXPECT_THAT(text, HasSubstr("\n  CUDA     built in, with kernels\n  driver   13.0\n"));
  EXPECT_THAT(text, HasSubstr("\n  UCX      takes no memory of devices\n"));
  EXPECT_THAT(text, HasSubstr("\n  MPI      not known whether it takes memory of devices: it does not tell\n"));
  EXPECT_THAT(text, HasSubstr("\n  0       Card     9.0         80 GiB   0000:3b:00.0\n"));
  EXPECT_THAT(text, HasSubstr("\n  2       unknown  unknown     unknown  unknown\n"));
  EXPECT_THAT(text, HasSubstr("\n  0          X                        direct, atomics, rank 0  no\n"));
  EXPECT_THAT(text, HasSubstr("\n  2          unknown                  no                       X\n"));
}

TEST(DeviceInfo, SaysWhichWayBuffersTake) {
  DeviceReport report = three_devices();
  EXPECT_THAT(way_of(report).name, HasSubstr("by CUDA IPC inside a node, staged elsewhere"));
  EXPECT_THAT(way_of(report).worker, HasSubstr("the cheaper for each call (TUTTI_STAGING=auto|host|device)"));
  report.staging = "device";
  EXPECT_THAT(way_of(report).worker, HasSubstr("the device copies and reduces (TUTTI_STAGING=device)"));
  report.staging = "nowhere";
  EXPECT_THAT(way_of(report).worker, HasSubstr("'nowhere', which calls refuse; allowed: auto, host, device"));
}

TEST(DeviceInfo, SaysWhatWouldBeFaster) {
  DeviceReport report = three_devices();
  EXPECT_TRUE(way_of(report).faster.empty());
  report.ucx = {true, {}, "cuda_copy; no cuda_ipc"};
  report.mpi.answer = true;
  EXPECT_THAT(to_text(report), HasSubstr("\n  UCX      takes memory of devices (cuda_copy; no cuda_ipc)\n"));
  EXPECT_THAT(to_text(report), HasSubstr("\n  MPI      takes memory of devices\n"));
  EXPECT_EQ(json_of(report)["ucx"]["means"], "cuda_copy; no cuda_ipc");
  EXPECT_THAT(way_of(report).faster, ElementsAre(HasSubstr("UCX"), HasSubstr("the MPI")));
  EXPECT_THAT(to_text(report),
              HasSubstr("the MPI, given memory of devices; taken where all ranks have it (TUTTI_DEVICE_PATH)\n"));
  report.survey.reaches.clear();
  report.ucx.answer = report.mpi.answer = false;
  EXPECT_THAT(way_of(report).faster, IsEmpty());
  EXPECT_THAT(to_text(report), HasSubstr("nothing that is here: between nodes it takes CUDA in "));
}

TEST(DeviceInfo, SaysWhyThereIsNoWay) {
  DeviceReport report = three_devices();
  report.survey.has_kernels = false;
  EXPECT_THAT(to_text(report), HasSubstr("buffers  on devices are refused: the library was built without nvcc\n"));
  report.survey = {.is_built = true, .has_kernels = true, .why_not = "libcuda.so.1 was not found"};
  EXPECT_THAT(to_text(report), HasSubstr("driver   none: libcuda.so.1 was not found\n"));
  EXPECT_THAT(to_text(report), HasSubstr("buffers  on devices cannot be: libcuda.so.1 was not found\n"));
  report.survey = {.why_not = "the library was built without CUDA"};
  EXPECT_THAT(to_text(report), HasSubstr("buffers  on devices are refused: the library was built without CUDA\n"));
  EXPECT_THAT(to_text(report), Not(HasSubstr("driver")));
  EXPECT_EQ(json_of(report)["buffers"]["way"], "none");
}

TEST(DeviceInfo, IsTheSameAsJson) {
  const nlohmann::json json = json_of(three_devices());
  EXPECT_EQ(json["driver"], "13.0");
  EXPECT_EQ(json["devices"].size(), 3U);
  EXPECT_EQ(json["devices"][0]["bytes"], std::int64_t{80} << 30);
  EXPECT_EQ(json["reaches"][0][1]["direct"], true);
  EXPECT_EQ(json["reaches"][1][2]["direct"], false);
  EXPECT_TRUE(json["reaches"][2][0]["direct"].is_null());
  EXPECT_EQ(json["ucx"]["takes_device_memory"], false);
  EXPECT_TRUE(json["mpi"]["takes_device_memory"].is_null());
  EXPECT_EQ(json["mpi"]["why_not_known"], "it does not tell");
  EXPECT_EQ(json["buffers"]["way"], "by CUDA IPC inside a node, staged elsewhere");
  EXPECT_EQ(json["buffers"]["faster"].size(), 0U);
}

}  // namespace
}  // namespace tutti::tool
