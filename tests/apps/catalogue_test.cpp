// algorithms/README.md tells the truth: its table is the registry, and its example is an algorithm that can be proved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "lib/proof/checker/prove.hpp"
#include "lib/proof/cost/catalogue.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

extern const Algorithm allreduce_linear;  // of the example

namespace {

/// The text of the page between the two comments around the table.
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

std::string text_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(Catalogue, ExampleOfAParameterIsThatOfTheFileNamed) {
  const std::string folder = std::string{TUTTI_CATALOGUE}.substr(0, std::string_view{TUTTI_CATALOGUE}.rfind('/'));
  const std::string page = text_of(TUTTI_CATALOGUE), block = "```cpp\n";
  const std::size_t begin = page.find(block, page.find("### A parameter"));
  ASSERT_NE(begin, std::string::npos);
  const std::string example = page.substr(begin + block.size(), page.find("```", begin + 1) - begin - block.size());
  EXPECT_THAT(example, testing::HasSubstr(".parameter = "));
  EXPECT_THAT(text_of(folder + "/broadcast_knomial.cpp"), testing::HasSubstr(example));
}

}  // namespace
}  // namespace tutti
