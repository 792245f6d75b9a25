// Which file of rules is a machine's.
#include "lib/core/selection/site_rules.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tutti/error.hpp"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class SiteFiles : public testing::Test {
 protected:
  SiteFiles() {
    std::string name = (fs::temp_directory_path() / "tutti_rules_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~SiteFiles() override { fs::remove_all(folder_); }
  SiteFiles(const SiteFiles&) = delete;
  SiteFiles& operator=(const SiteFiles&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// A file that is for such machines.
  std::string put(const std::string& name, const std::string& machines) const {
    fs::create_directories(fs::path{path(name)}.parent_path());
    std::ofstream{path(name)} << fmt::format("{{\"tutti_rules\": 1, \"for\": {{{}}}, \"rules\": []}}", machines);
    return path(name);
  }
  [[nodiscard]] static std::string found(const RulePlaces& places) {
    const std::optional<FoundRules> rules = find_rules(places, machine());
    return rules ? fs::path{rules->path}.filename().string() : "none";
  }
  [[nodiscard]] static std::string fault_of(const RulePlaces& places) {
    try {
      static_cast<void>(find_rules(places, machine()));
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "";
  }
  [[nodiscard]] static SiteFacts machine() { return {.cpu = "C", .mpi = "M 1.2", .nodes = 4, .ppn = 2}; }

 private:
  fs::path folder_;
};

TEST_F(SiteFiles, ThatFitMostCloselyAreTaken) {
  const std::string any = put("any.json", ""), cpu = put("cpu.json", R"("cpu": "C")");
  const std::string both = put("both.json", R"("cpu": "C", "mpi": "M*")"), other = put("other.json", R"("cpu": "D")");
  EXPECT_EQ(found({any + ":" + cpu, {}}), "cpu.json");
  EXPECT_EQ(found({both + ":" + cpu, {}}), "both.json");
  EXPECT_EQ(found({other + ":" + any, {}}), "any.json");
  EXPECT_THAT(fault_of({other, {}}), HasSubstr("no file of rules fits this machine: " + other + ": it is for cpu 'D'"));
}

TEST_F(SiteFiles, ThatFitEquallyAreNamed) {
  const std::string first = put("a.json", R"("cpu": "C")"), second = put("b.json", R"("mpi": "M*")");
  const std::optional<FoundRules> rules = find_rules({first + ":" + second, {}}, machine());
  ASSERT_TRUE(rules);
  EXPECT_EQ(rules->path, first);
  EXPECT_THAT(rules->notes,
              ElementsAre("the rules of " + first + " and of " + second +
                          " fit this machine equally well: the first are taken (tutti rules merge joins files)"));
}

TEST_F(SiteFiles, OfTheFirstFolderWithOneThatFitsCount) {
  put("user/x.json", R"("cpu": "D")");
  put("site/a.json", "");
  put("site/b.json", R"("nodes": [4, 8])");
  std::ofstream{path("site/README")} << "no rules";
  EXPECT_EQ(found({"", {path("user"), path("site")}}), "b.json");
  put("user/y.json", "");
  EXPECT_EQ(found({"", {path("user"), path("site")}}), "y.json");
  EXPECT_EQ(found({"none", {path("user")}}), "none");
  EXPECT_EQ(found({"", {path("nowhere")}}), "none");
  EXPECT_TRUE(has_candidates({"", {path("nowhere"), path("site")}}));
  EXPECT_FALSE(has_candidates({"", {path("nowhere")}}));
  EXPECT_FALSE(has_candidates({"none", {path("site")}}));
  EXPECT_TRUE(has_candidates({"x", {}}));
  EXPECT_EQ(found({path("site/a.json"), {path("user")}}), "a.json");
}

TEST_F(SiteFiles, ThatCannotBeReadAreErrors) {
  EXPECT_EQ(fault_of({path("missing.json"), {}}), path("missing.json") + ": No such file or directory");
  fs::create_directories(path("folder.json"));
  EXPECT_THAT(fault_of({path("folder.json"), {}}), HasSubstr("a folder; allowed: a file of rules"));
  fs::create_directories(path("bad"));
  std::ofstream{path("bad/x.json")} << "{\"tutti_rules\": 1,\n\"rule\": []}";
  EXPECT_THAT(fault_of({"", {path("bad")}}), HasSubstr("x.json:2:1: 'rule' is no key of a file of rules"));
}

TEST_F(SiteFiles, AreLookedForWhereTheEnvironmentSays) {
  setenv("TUTTI_RULES", "a:b", 1);
  setenv("XDG_CONFIG_HOME", "/x", 1);
  const RulePlaces places = usual_rule_places();
  unsetenv("TUTTI_RULES");
  unsetenv("XDG_CONFIG_HOME");
  EXPECT_EQ(places.named, "a:b");
  EXPECT_EQ(places.folders.front(), "/x/tutti/rules.d");
  EXPECT_EQ(places.folders.back(), "/etc/tutti/rules.d");
}

}  // namespace
}  // namespace tutti
