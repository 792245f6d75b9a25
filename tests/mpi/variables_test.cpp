// The environment variables that Tutti knows: in the table, on docs/building.md, and in the warnings about others.
#include "lib/runtime/variables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "tutti/error.hpp"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

/// Sets an environment variable for a while.
class Setting {
 public:
  explicit Setting(const char* value) { setenv(name, value, 1); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() { unsetenv(name); }
  static constexpr const char* name = "TUTTI_TEST_NUMBER";
};

TEST(Variables, AreThoseOfTheManual) {
  std::ifstream page{TUTTI_BUILDING};
  std::vector<std::string> documented;
  bool is_inside = false;
  const std::regex variable{"`(TUTTI_[A-Z_]+)`"};
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| variable |")) is_inside = true;
    if (line.empty()) is_inside = false;
    std::smatch found;
    const std::string first_cell = line.substr(0, line.find('|', 1));
    if (is_inside && std::regex_search(first_cell, found, variable)) documented.push_back(found[1]);
  }
  EXPECT_THAT(documented, UnorderedElementsAreArray(variables.begin(), variables.end()));
}

TEST(Variables, AreAllThatTheSourcesName) {
  const std::regex literal{"\"(TUTTI_[A-Z_]+[A-Z])\""};
  std::set<std::string> named;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{TUTTI_LIB}) {
    if (!entry.is_regular_file() || entry.path().stem() == "variables") continue;
    std::ifstream file{entry.path()};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    for (std::sregex_iterator found{text.begin(), text.end(), literal}, none; found != none; ++found)
      named.insert((*found)[1]);
  }
  EXPECT_THAT(named, UnorderedElementsAreArray(variables.begin(), variables.end()));
}

TEST(Variables, AreInOrder) {
  EXPECT_TRUE(std::ranges::is_sorted(variables));
  EXPECT_TRUE(std::ranges::is_sorted(variables_of_others));
}

TEST(UnknownVariables, AreToldWithWhatMayBeMeant) {
  EXPECT_THAT(unknown_variables({"TUTTI_ALGORITM"}), ElementsAre("TUTTI_ALGORITM (did you mean TUTTI_ALGORITHM?)"));
  EXPECT_THAT(unknown_variables({"TUTTI_NODE"}), ElementsAre("TUTTI_NODE (did you mean TUTTI_NODES?)"));
  EXPECT_THAT(unknown_variables({"TUTTI_XYZ", "TUTTI_TRANSPROT"}),
              ElementsAre("TUTTI_TRANSPROT (did you mean TUTTI_TRANSPORT?)", "TUTTI_XYZ"));
  EXPECT_THAT(unknown_variables({"TUTTI_"}), ElementsAre("TUTTI_"));
}

TEST(UnknownVariables, AreNotThoseOfOthers) {
  std::vector<std::string> known{"HOME", "tutti_algorithm", "MY_TUTTI_NODES", "TUTTI", "TUTTI_TEST_NODES"};
  known.insert(known.end(), variables.begin(), variables.end());
  known.insert(known.end(), variables_of_others.begin(), variables_of_others.end());
  EXPECT_THAT(unknown_variables(known), IsEmpty());
}

TEST(NumberInEnvironment, IsTheWholeText) {
  EXPECT_EQ(number_in_environment(Setting::name, 1, 9), std::nullopt);
  const Setting set{"7"};
  EXPECT_EQ(number_in_environment(Setting::name, 1, 9), 7);
  EXPECT_EQ(number_in_environment(Setting::name, 7, 7), 7);
}

TEST(NumberInEnvironment, RefusesAllElse) {
  for (const char* const value : {"", "abc", "7x", " 7", "0", "10", "99999999999999999999", "7.0"}) {
    const Setting set{value};
    try {
      static_cast<void>(number_in_environment(Setting::name, 1, 9));
      ADD_FAILURE() << "nothing was thrown for '" << value << "'";
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string{Setting::name} + " is '" + value + "'; allowed: 1 to 9"));
    }
  }
}

}  // namespace
}  // namespace tutti
