// Checkpoints: those that were written are read, and nothing else is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/options.hpp"
#include "apps/sgd/checkpoint.hpp"

namespace tutti::sgd {
namespace {

using testing::HasSubstr;

const Identity identity{"double", {2, 3, 2}, 7, 32, 0xabcdef01};

Progress<double> some_progress() {
  Progress<double> progress{5, {}, {}};
  for (int i = 0; i < 17; ++i) {
    progress.weights.push_back(0.1 * i);
    progress.velocity.push_back(-0.3 * i);
  }
  return progress;
}

std::string refusal(const std::string& bytes, const Identity& wanted = identity) {
  try {
    (void)decode<double>("file", bytes, wanted);
  } catch (const apps::InputError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(SgdCheckpoint, ComesBackAsItWas) {
  const Progress<double> progress = some_progress();
  const Progress<double> back = decode<double>("file", encode(identity, progress), identity);
  EXPECT_EQ(back.epochs, 5);
  EXPECT_EQ(back.weights, progress.weights);
  EXPECT_EQ(back.velocity, progress.velocity);
}

TEST(SgdCheckpoint, EveryTruncationIsRefused) {
  const std::string bytes = encode(identity, some_progress());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string text = refusal(bytes.substr(0, size));
    EXPECT_THAT(text, HasSubstr(size < 8 ? "is no checkpoint" : "is cut short or damaged")) << size;
    EXPECT_THAT(text, HasSubstr("'file'"));
  }
  EXPECT_THAT(refusal(bytes + "x"), HasSubstr("is cut short or damaged"));
}

TEST(SgdCheckpoint, EveryFlippedBitIsRefused) {
  const std::string bytes = encode(identity, some_progress());
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(refusal(damaged), "nothing") << "bit " << bit;
  }
}

TEST(SgdCheckpoint, ForeignFilesAreRefused) {
  EXPECT_THAT(refusal("{\"epochs\": []}"), HasSubstr("is no checkpoint of tutti-sgd"));
  EXPECT_THAT(refusal(std::string(10'000, '\0')), HasSubstr("is no checkpoint of tutti-sgd"));
}

TEST(SgdCheckpoint, AnotherTrainingIsNamed) {
  const std::string bytes = encode(identity, some_progress());
  const auto refused_as = [&](auto change) {
    Identity wanted = identity;
    change(wanted);
    return refusal(bytes, wanted);
  };
  EXPECT_THAT(refused_as([](Identity& wanted) { wanted.precision = "float"; }),
              HasSubstr("--precision float expected, double found"));
  EXPECT_THAT(refused_as([](Identity& wanted) {
                wanted.widths = {2, 4, 2};
              }),
              HasSubstr("model 2-4-2 expected, 2-3-2 found"));
  EXPECT_THAT(refused_as([](Identity& wanted) { wanted.seed = 8; }), HasSubstr("--seed 8 expected, 7 found"));
  EXPECT_THAT(refused_as([](Identity& wanted) { wanted.batch = 64; }), HasSubstr("--batch 64 expected, 32 found"));
  EXPECT_THAT(refused_as([](Identity& wanted) { wanted.data = 0; }), HasSubstr("other images"));
}

}  // namespace
}  // namespace tutti::sgd
