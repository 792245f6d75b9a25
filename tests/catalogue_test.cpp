// algorithms/README.md tells the truth: its table is the registry, and its example is an algorithm that can be proved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "lib/checker/prove.hpp"
#include "lib/cost/catalogue.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

extern const Algorithm allreduce_linear;  // of the example

namespace {

/// What the page has between the two comments around the table.
std::string catalogue() {
  std::ifstream page{TUTTI_CATALOGUE};
  std::string table;
  bool is_inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "<!-- end of table -->") is_inside = false;
    if (is_inside) table += line + '\n';
    if (line == "<!-- table: tutti list --markdown -->") is_inside = true;
  }
  return table;
}

TEST(Catalogue, IsTheRegistry) {
  EXPECT_EQ(catalogue(), catalogue_table()) << "replace the table of algorithms/README.md by: tutti list --markdown";
}

TEST(Catalogue, HasARowForEveryAlgorithm) {
  const std::string table = catalogue_table();
  for (const Algorithm* algorithm : algorithms())
    EXPECT_THAT(table, testing::HasSubstr("| " + std::string{to_string(algorithm->collective)} + " | `" +
                                          std::string{algorithm->name} + "` | "));
  EXPECT_EQ(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')), algorithms().size() + 2);
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
