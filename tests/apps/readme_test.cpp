// The statements of README.md, CMakeLists.txt and version.h are the same, and true.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tutti/algorithm.hpp"
#include "tutti/version.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ifstream page{path};
  return {std::istreambuf_iterator<char>{page}, {}};
}

std::string readme() { return text_of(TUTTI_README); }

TEST(Version, IsThatOfTheProject) {
  EXPECT_STREQ(TUTTI_VERSION, TUTTI_PROJECT_VERSION);
  EXPECT_EQ(fmt::format("{}.{}.{}", TUTTI_VERSION_MAJOR, TUTTI_VERSION_MINOR, TUTTI_VERSION_PATCH), TUTTI_VERSION);
}

TEST(Readme, HasTheVersion) { EXPECT_THAT(readme(), HasSubstr(fmt::format("**State: {}.**", TUTTI_VERSION))); }

TEST(Readme, CountsTheAlgorithms) {
  EXPECT_THAT(readme(), HasSubstr(fmt::format(" {} algorithms,", algorithms().size())));
}

TEST(Readme, ItsFirstProgramIsTheExample) {
  const std::string program = text_of(TUTTI_EXAMPLES "/cpp/first.cpp");
  ASSERT_THAT(program, HasSubstr("tutti::allreduce("));
  EXPECT_THAT(readme(), HasSubstr("```cpp\n" + program + "```\n"));
}

TEST(Readme, HasAPageOfAllExamples) {
  const std::string page = text_of(TUTTI_EXAMPLES "/README.md");
  for (const auto& entry : std::filesystem::directory_iterator{TUTTI_EXAMPLES}) {
    if (!entry.is_directory()) continue;
    EXPECT_THAT(page, HasSubstr("](" + entry.path().filename().string() + "/")) << entry.path();
  }
}

}  // namespace
}  // namespace tutti
