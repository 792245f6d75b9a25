// Names that are nearly right are answered with the right ones.
#include "lib/core/schedule/near_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "lib/core/schedule/choice.hpp"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(EditDistance, CountsLetters) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("ring", "ring"), 0U);
  EXPECT_EQ(edit_distance("", "ring"), 4U);
  EXPECT_EQ(edit_distance("ring", ""), 4U);
  EXPECT_EQ(edit_distance("rinq", "ring"), 1U) << "changed";
  EXPECT_EQ(edit_distance("rings", "ring"), 1U) << "one too many";
  EXPECT_EQ(edit_distance("rng", "ring"), 1U) << "one missing";
  EXPECT_EQ(edit_distance("rign", "ring"), 1U) << "neighbours swapped";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(NearNames, AreThoseOfFewChanges) {
  const std::vector<std::string> all{"linear", "ring", "bidirectional_ring", "pairwise"};
  EXPECT_THAT(near_names("rign", all), ElementsAre("ring"));
  EXPECT_THAT(near_names("linaer", all), ElementsAre("linear"));
  EXPECT_THAT(near_names("bidirectional", all), ElementsAre("bidirectional_ring")) << "a part of it";
  EXPECT_THAT(near_names("tree", all), IsEmpty());
  EXPECT_THAT(near_names("", all), IsEmpty());
  EXPECT_THAT(near_names("9", {"0", "1"}), IsEmpty()) << "no letter is the same";
  EXPECT_THAT(near_names(std::string(10'000, 'r'), all), IsEmpty());
}

TEST(Suggestion, NamesTheNearestFirst) {
  EXPECT_EQ(suggestion("rign", {"linear", "ring"}), " (did you mean ring?)");
  EXPECT_EQ(suggestion("two_lanes", {"two_panels", "two_lane"}), " (did you mean two_lane, two_panels?)");
  EXPECT_EQ(suggestion("tree", {"linear", "ring"}), "");
}

TEST(Suggestion, ComesWithEveryChoiceThatIsRefused) {
  try {
    static_cast<void>(read_choice(Collective::allreduce, "rign/64K"));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("(did you mean ring?)"));
  }
}

}  // namespace
}  // namespace tutti
