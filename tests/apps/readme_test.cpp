// The statements of README.md, CMakeLists.txt and version.h are the same, and true.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tutti/algorithm.hpp"
#include "tutti/version.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;

std::string readme() {
  std::ifstream page{TUTTI_README};
  return {std::istreambuf_iterator<char>{page}, {}};
}

TEST(Version, IsThatOfTheProject) {
  EXPECT_STREQ(TUTTI_VERSION, TUTTI_PROJECT_VERSION);
  EXPECT_EQ(fmt::format("{}.{}.{}", TUTTI_VERSION_MAJOR, TUTTI_VERSION_MINOR, TUTTI_VERSION_PATCH), TUTTI_VERSION);
}

TEST(Readme, HasTheVersion) { EXPECT_THAT(readme(), HasSubstr(fmt::format("**State: {}.**", TUTTI_VERSION))); }

TEST(Readme, CountsTheAlgorithms) {
  EXPECT_THAT(readme(), HasSubstr(fmt::format(" {} algorithms,", algorithms().size())));
}

}  // namespace
}  // namespace tutti
