// Every MPI function that the library calls stands in one table, and no source calls one by another way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace tutti {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string without_comments(const std::string& text) {
  static const std::regex comment{"//[^\n]*"};
  return std::regex_replace(text, comment, "");
}

/// The first group of every match, in the order of the text.
std::vector<std::string> found_in(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator match{text.begin(), text.end(), pattern}, none; match != none; ++match)
    found.push_back((*match)[1]);
  return found;
}

std::vector<std::filesystem::path> sources(const std::vector<const char*>& folders) {
  std::vector<std::filesystem::path> paths;
  for (const char* const folder : folders)
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder})
      if (entry.is_regular_file() && (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp"))
        paths.push_back(entry.path());
  return paths;
}

std::set<std::string> called_through_the_table() {
  const std::regex call{R"(\bapi\.(\w+)\()"};
  std::set<std::string> called;
  for (const std::filesystem::path& path :
       sources({TUTTI_LIB, TUTTI_C_SOURCES, TUTTI_UCX_SOURCES, TUTTI_INTERPOSE_SOURCES}))
    for (const std::string& name : found_in(without_comments(text_of(path)), call))
      called.insert(name);
  return called;
}

/// Only the preloaded library names such functions, as it defines them.
TEST(MpiCalls, GoThroughTheTable) {
  // Conversions of handles are macros in some MPIs.
  const std::regex direct{R"(\b(P?MPI_(?:T_)?(?!\w+_(?:f2c|fromint))[A-Za-z][a-z]\w*)\s*\()"};
  for (const std::filesystem::path& path : sources({TUTTI_LIB, TUTTI_C_SOURCES, TUTTI_UCX_SOURCES}))
    EXPECT_THAT(found_in(without_comments(text_of(path)), direct), IsEmpty()) << path;
}

TEST(MpiCalls, AreAllThatTheTableHasInOrder) {
  const std::filesystem::path table = std::filesystem::path{TUTTI_LIB} / "core/transport/mpi/api.hpp";
  const std::regex entry{R"(TUTTI_MPI_FUNCTION\((\w+)\);)"};
  EXPECT_THAT(found_in(text_of(table), entry), ElementsAreArray(called_through_the_table()));
}

}  // namespace
}  // namespace tutti
