// algorithms/README.md tells the truth: its table is the registry, and its example is an algorithm that can be proved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "lib/checker/prove.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

extern const Algorithm allreduce_linear;  // of the example

namespace {

/// The cells of a table's row, without blanks around them.
std::vector<std::string> cells(const std::string& row) {
  std::vector<std::string> found;
  std::istringstream text{row.substr(1)};
  for (std::string cell; std::getline(text, cell, '|');) {
    const std::size_t begin = cell.find_first_not_of(' ');
    found.push_back(begin == std::string::npos ? "" : cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin));
  }
  return found;
}

/// "allreduce `ring`, any, SOURCE" for each algorithm in the table.
std::set<std::string> catalogue() {
  std::set<std::string> entries;
  std::ifstream page{TUTTI_CATALOGUE};
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| ") || line.find('`') == std::string::npos) continue;
    const std::vector<std::string> row = cells(line);
    entries.insert(row.at(0) + ' ' + row.at(1) + ", " + row.at(2) + ", " + row.back());
  }
  return entries;
}

TEST(Catalogue, IsTheRegistry) {
  std::set<std::string> registered;
  for (const Algorithm* algorithm : algorithms())
    registered.insert(std::string{to_string(algorithm->collective)} + " `" + std::string{algorithm->name} + "`, " +
                      (algorithm->order == Order::of_ranks ? "of ranks" : "any") + ", " +
                      std::string{algorithm->source});
  EXPECT_THAT(catalogue(), testing::ContainerEq(registered));
}

TEST(Catalogue, ExampleIsProved) {
  for (const auto placement : {checker::Placement::separate, checker::Placement::in_place})
    for (int size = 1; size <= 9; ++size)
      for (const int count : {0, 1, 8, 37}) {
        const checker::Case what{.size = size, .count = Count{count}, .placement = placement};
        EXPECT_EQ(checker::prove(allreduce_linear, what).fault, "") << to_text(what);
      }
}

}  // namespace
}  // namespace tutti
