// The environment variables that Tutti knows: in the table, on docs/environment.md, and in the warnings about others.
#include "lib/core/communicator/variables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "lib/core/communicator/settings.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Sets an environment variable for a while.
class Setting {
 public:
  explicit Setting(const char* value) { setenv(name, value, 1); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() { unsetenv(name); }
  static constexpr const char* name = "TUTTI_PLAN_CACHE";  // 1 to 65536
};

using Names = std::set<std::string>;
const std::filesystem::path root{TUTTI_SOURCES};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// What the first group of the pattern matches in the text.
Names matches(const std::string& text, const std::string& pattern) {
  const std::regex regex{pattern};
  Names names;
  for (std::sregex_iterator found{text.begin(), text.end(), regex}, none; found != none; ++found)
    names.insert((*found)[1]);
  return names;
}

/// The matches in all files of the folders, of which some may not be there; not in files named `but`.
Names matches_in_files(const std::vector<std::string>& folders, const std::string& pattern, const Names& but = {}) {
  Names names;
  for (const std::string& folder : folders) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{root / folder})
      if (entry.is_regular_file() && !but.contains(entry.path().filename()))
        names.merge(matches(text_of(entry), pattern));
  }
  return names;
}

/// The variables in the first cells of the table of that section of a page, docs/environment.md unless said otherwise.
Names documented(const std::string& section, const std::string& page = "docs/environment.md") {
  std::ifstream lines{root / page};
  std::string cells;
  bool is_inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) is_inside = line == "## " + section;
    if (is_inside && line.starts_with("| `")) cells += line.substr(0, line.find('|', 1)) + "\n";
  }
  return matches(cells, "`([A-Za-z0-9_]+)`");
}

Names names_of_variables() {
  Names names;
  for (const Variable& variable : variables)
    names.emplace(variable.name);
  return names;
}

const std::vector<std::string> code{"lib", "ucx", "apps", "bindings/c", "bindings/preload"};

TEST(Variables, AreThoseOfTheManual) { EXPECT_EQ(documented("The library"), names_of_variables()); }

/// The table sets some of them by itself (Variable::set). The sources name all others, and no others.
TEST(Variables, AreAllThatTheSourcesName) {
  Names named = matches_in_files(code, R"re("(TUTTI_(?!TEST_)[A-Z_]+[A-Z])")re", {"variables.hpp"});
  for (const Variable& variable : variables)
    if (variable.set != nullptr) named.emplace(variable.name);
  EXPECT_EQ(named, names_of_variables());
}

TEST(Variables, OfScriptsAreThoseOfTheManual) {
  Names read = matches_in_files({"scripts", "slurm", "tests/python"}, R"re(\$\{((TUTTI|CLUSTER)_[A-Z_]+):-)re");
  read.merge(matches_in_files({"bindings"}, R"re(environ\.get\("(TUTTI_(?!TEST_)[A-Z_]+)")re"));
  EXPECT_EQ(documented("Scripts and batch jobs"), read);
  read.erase("CLUSTER_FOLDER");
  const std::string of_installers = "Tutti reads none of them";
  const std::string page = text_of(root / "docs/environment.md");
  const auto end = page.find(of_installers);
  ASSERT_NE(end, std::string::npos);
  read.merge(matches(page.substr(page.rfind("\n\n", end), end - page.rfind("\n\n", end)), "`(TUTTI_[A-Z]+)`"));
  EXPECT_EQ(read, Names(variables_of_others.begin(), variables_of_others.end()));
}

TEST(Variables, OfTestsAreThoseOfTheManual) {
  EXPECT_EQ(documented("Tests"), matches_in_files({"tests"}, R"re(["= ](TUTTI_TEST_(?!MAX_)[A-Z_]+)["=])re"));
  EXPECT_EQ(documented("Environment", "tests/fake_cuda/README.md"),
            matches_in_files({"tests/fake_cuda/driver"}, R"re("((FAKE_)?CUDA_[A-Z_]+)")re"));
}

/// Variables that the sources name where they read them; lists of them are compared from the manual's side only.
TEST(Variables, OfOthersAreThoseOfTheManual) {
  const Names manual = documented("Variables of others");
  for (const std::string& name : matches_in_files(code, R"re(getenv\("([A-Za-z_]+)"\))re"))
    EXPECT_TRUE(name.starts_with("TUTTI_") || manual.contains(name)) << name;
  const Names named = matches_in_files(code, R"re("([A-Z0-9]+_[A-Za-z_]+)")re");
  for (const std::string& name : manual)
    EXPECT_TRUE(named.contains(name)) << name;
}

TEST(Variables, AreInOrder) {
  EXPECT_TRUE(std::ranges::is_sorted(variables, {}, &Variable::name));
  EXPECT_TRUE(std::ranges::is_sorted(variables_of_others));
}

TEST(UnknownVariables, AreToldWithWhatMayBeMeant) {
  EXPECT_THAT(unknown_variables({"TUTTI_ALGORITM"}),
              ElementsAre("TUTTI_ALGORITM (did you mean TUTTI_ALGORITHM, TUTTI_ALGORITHMS?)"));
  EXPECT_THAT(unknown_variables({"TUTTI_NODE"}), ElementsAre("TUTTI_NODE (did you mean TUTTI_NODES?)"));
  EXPECT_THAT(unknown_variables({"TUTTI_XYZ", "TUTTI_TRANSPROT"}),
              ElementsAre("TUTTI_TRANSPROT (did you mean TUTTI_TRANSPORT?)", "TUTTI_XYZ"));
  EXPECT_THAT(unknown_variables({"TUTTI_"}), ElementsAre("TUTTI_"));
}

TEST(UnknownVariables, AreNotThoseOfOthers) {
  std::vector<std::string> known{"HOME", "tutti_algorithm", "MY_TUTTI_NODES", "TUTTI", "TUTTI_TEST_NODES"};
  for (const Variable& variable : variables)
    known.emplace_back(variable.name);
  known.insert(known.end(), variables_of_others.begin(), variables_of_others.end());
  EXPECT_THAT(unknown_variables(known), IsEmpty());
}

/// The second and third cell of the variable's row in docs/environment.md.
std::string described(std::string_view name) {
  std::ifstream lines{root / "docs/environment.md"};
  const std::string begin = "| `" + std::string{name} + "` |";
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(begin)) return line.substr(begin.size());
  return {};
}

TEST(Variables, HaveTheDefaultsAndNamesOfTheManual) {
  for (const Variable& variable : variables) {
    const std::string row = described(variable.name);
    for (const std::string& name : matches(std::string{variable.allowed} + ",", "([a-z]+),"))
      EXPECT_TRUE(variable.form != Variable::Form::name || row.find(name) != std::string::npos) << variable.name;
    const bool is_round = variable.form == Variable::Form::number && variable.most < (1 << 20);
    if (variable.form == Variable::Form::name || is_round) {
      EXPECT_THAT(row, HasSubstr("default " + std::string{variable.preset})) << variable.name;
    }
  }
}

TEST(Variables, HaveTheDefaultsOfTheSettings) {
  SentSettings read;
  for (const Variable& variable : variables)
    read_sent(variable, read);
  EXPECT_EQ(read, SentSettings{});
  EXPECT_EQ(number_setting("TUTTI_TRACE_LIMIT"), Settings{}.trace.limit);
}

TEST(Variables, SetWhatTheyName) {
  SentSettings read;
  setenv("TUTTI_HANG_ACTION", "abort", 1);
  setenv("TUTTI_BUFFERS", "device", 1);
  setenv("TUTTI_CHECK", "1", 1);
  const Setting set{"7"};
  for (const Variable& variable : variables)
    read_sent(variable, read);
  for (const char* name : {"TUTTI_HANG_ACTION", "TUTTI_BUFFERS", "TUTTI_CHECK"})
    unsetenv(name);
  EXPECT_EQ(read.hang_action, HangAction::abort);
  EXPECT_EQ(read.buffers, BufferUse::device);
  EXPECT_TRUE(read.checks_arguments);
  EXPECT_EQ(read.plan_cache, 7);
}

TEST(Variables, AreReadWhereTheyAreNotSet) {
  for (const Variable& variable : variables) {
    const bool is_number = variable.form == Variable::Form::number && !variable.is_derived;
    EXPECT_NO_THROW(is_number ? static_cast<void>(number_setting(variable.name)) : void());
    EXPECT_NO_THROW(variable.form == Variable::Form::name ? static_cast<void>(name_setting(variable.name)) : void());
  }
}

TEST(NumberInEnvironment, IsTheWholeText) {
  EXPECT_EQ(number_in_environment(Setting::name), std::nullopt);
  EXPECT_EQ(number_setting(Setting::name), 64);
  const Setting set{"7"};
  EXPECT_EQ(number_in_environment(Setting::name), 7);
  EXPECT_EQ(number_setting(Setting::name), 7);
}

TEST(NumberInEnvironment, RefusesAllElse) {
  for (const char* const value : {"", "abc", "7x", " 7", "0", "65537", "99999999999999999999", "7.0"}) {
    const Setting set{value};
    try {
      static_cast<void>(number_in_environment(Setting::name));
      ADD_FAILURE() << "nothing was thrown for '" << value << "'";
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string{Setting::name} + " is '" + value + "'; allowed: 1 to 65536"));
    }
  }
}

}  // namespace
}  // namespace tutti
