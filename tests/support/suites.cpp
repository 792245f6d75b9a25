#include "tests/support/suites.hpp"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::test {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool matches(const std::string& name, const std::string& patterns) {
  const std::vector<std::string> all = split(patterns, ':');
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& each) { return fnmatch(each.c_str(), name.c_str(), 0) == 0; });
}

/// As --gtest_filter is documented: patterns, then '-' and those to leave out.
bool is_chosen(const std::string& name, const std::string& filter) {
  const std::size_t minus = filter.find('-');
  if (minus != std::string::npos && matches(name, filter.substr(minus + 1))) return false;
  const std::string wanted = filter.substr(0, minus);
  return wanted.empty() || matches(name, wanted);
}

/// "requests_test" of "tests/mpi/requests_test.cpp".
std::string stem(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
  return std::string{path.substr(0, path.find('.'))};
}

}  // namespace

void select_suites(int& argc, char** argv) {
  constexpr std::string_view option = "--suite=";
  std::vector<std::string> files, without_tests;
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(option) && argument.size() > option.size())
      files = split(argument.substr(option.size()), ',');
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  argv[argc] = nullptr;
  const auto refuse = [&](const std::string& why) {
    std::fprintf(stderr, "%s: %s\n", argv[0], why.c_str());
    std::exit(2);
  };
  for (int i = 1; i < argc; ++i)
    if (std::string_view{argv[i]}.starts_with("--suite")) refuse("write --suite=NAME,NAME");
  if (files.empty()) return;
  without_tests = files;
  const std::string filter = GTEST_FLAG_GET(filter);
  std::string names;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      const std::string name = std::string{suite.name()} + "." + test.name();
      const std::string file = stem(test.file());
      if (std::find(files.begin(), files.end(), file) == files.end()) continue;
      std::erase(without_tests, file);
      if (!is_chosen(name, filter)) continue;
      names += (names.empty() ? "" : ":") + name;
    }
  }
  if (!without_tests.empty()) refuse("no test is in " + without_tests.front() + ".cpp");
  if (names.empty()) refuse("there is no such test");
  GTEST_FLAG_SET(filter, names);
}

}  // namespace tutti::test
