// Replays the inputs that are kept: those that reach much of the code, and those that showed a fault once.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/target.hpp"

namespace tutti::fuzz {
namespace {

namespace fs = std::filesystem;

const fs::path corpus{TUTTI_FUZZ_CORPUS};

std::vector<std::uint8_t> bytes_of(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

class Corpus : public testing::TestWithParam<Target> {};

TEST_P(Corpus, ShowsNoFault) {
  int inputs = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator{corpus / GetParam().name}) {
    SCOPED_TRACE(entry.path());
    EXPECT_NO_THROW(GetParam().run(bytes_of(entry.path())));
    ++inputs;
  }
  EXPECT_GT(inputs, 0);
}

std::vector<Target> all() {
  std::vector<Target> sorted = targets();
  std::ranges::sort(sorted, {}, &Target::name);
  return sorted;
}

INSTANTIATE_TEST_SUITE_P(All, Corpus, testing::ValuesIn(all()), [](const auto& info) { return info.param.name; });

TEST(Corpora, AreOfTargets) {
  for (const fs::directory_entry& entry : fs::directory_iterator{corpus})
    EXPECT_NE(std::ranges::find(targets(), entry.path().filename().string(), &Target::name), targets().end())
        << entry.path();
}

}  // namespace
}  // namespace tutti::fuzz
