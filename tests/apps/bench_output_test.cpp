// The files that tutti-bench writes: whole, or not at all.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/files.hpp"
#include "apps/options.hpp"

namespace tutti::apps {
namespace {

class Output : public testing::Test {
 protected:
  void SetUp() override {
    // Cases of this suite run at once, as processes of their own.
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::temp_directory_path() / ("tutti_bench_test_" + name);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const char* name) const { return folder_ / name; }
  std::filesystem::path folder_;
};

TEST_F(Output, AppearsWhenComplete) {
  OutputFile file{"json", path("out")};
  EXPECT_FALSE(std::filesystem::exists(path("out")));
  file.commit("whole\n");
  std::string text;
  std::getline(std::ifstream{path("out")}, text);
  EXPECT_EQ(text, "whole");
}

TEST_F(Output, LeavesNothingIfNotCommitted) {
  const OutputFile file{"json", path("out")};
  EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "not even while measuring, which may be interrupted";
}

TEST_F(Output, KeepsWhatWasThereUntilItIsCommitted) {
  std::ofstream{path("out")} << "before\n";
  OutputFile file{"json", path("out")};
  EXPECT_EQ(std::filesystem::file_size(path("out")), 7U);
  file.commit("after\n");
  EXPECT_EQ(std::filesystem::file_size(path("out")), 6U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder_}, {}), 1);
}

TEST_F(Output, RefusesAtOnce) {
  EXPECT_THROW(OutputFile("json", path("no/such/folder/out")), InputError);
  EXPECT_THROW(OutputFile("json", folder_), InputError);
}

}  // namespace
}  // namespace tutti::apps
