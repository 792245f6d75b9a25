// Checkpoints: those that were written are read, and nothing else is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "apps/options.hpp"
#include "apps/sgd/checkpoint.hpp"

namespace tutti::sgd {
namespace {

using testing::HasSubstr;

const Identity identity{"fp64", "2-3-2", "adam", 17, 7, 32, 2, 0xabcdef01};

Progress<double> some_progress() {
  Progress<double> progress{5, 120, 512, 33, {}, {}, {}};
  for (int i = 0; i < 17; ++i) {
    progress.weights.push_back(0.1 * i);
    progress.mean.push_back(-0.3 * i);
    progress.square.push_back(0.7 * i);
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
  EXPECT_EQ(back.steps, 120);
  EXPECT_EQ(back.scale, 512);
  EXPECT_EQ(back.unscaled, 33);
  EXPECT_EQ(back.mean, progress.mean);
  EXPECT_EQ(back.square, progress.square);
}

/// Gradient descent has no squares.
TEST(SgdCheckpoint, HoldsTheStateOfItsOptimizer) {
  Identity of_descent = identity;
  of_descent.optimizer = "sgd";
  Progress<double> progress = some_progress();
  progress.square.clear();
  const Progress<double> back = decode<double>("file", encode(of_descent, progress), of_descent);
  EXPECT_EQ(back.mean, progress.mean);
  EXPECT_TRUE(back.square.empty());
}

TEST(SgdCheckpoint, ImpossibleStatesAreRefused) {
  for (const double scale : {0.0, 0.5, -1.0, 0x1p25, std::nan("")}) {
    Progress<double> progress = some_progress();
    progress.scale = scale;
    EXPECT_THAT(refusal(encode(identity, progress)), HasSubstr("that no training has")) << scale;
  }
  Progress<double> progress = some_progress();
  progress.steps = -1;
  EXPECT_THAT(refusal(encode(identity, progress)), HasSubstr("that no training has"));
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
  EXPECT_THAT(refused_as([](Identity& wanted) { wanted.precision = "fp32"; }),
              HasSubstr("--precision fp32 expected, fp64 found"));
  EXPECT_THAT(refused_as([](Identity& wanted) { wanted.model = "2-4-2"; }),
              HasSubstr("model 2-4-2 expected, 2-3-2 found"));
  EXPECT_THAT(refused_as([](Identity& wanted) { wanted.optimizer = "sgd"; }),
              HasSubstr("--optimizer sgd expected, adam found"));
  EXPECT_THAT(refused_as([](Identity& wanted) { wanted.accumulate = 1; }),
              HasSubstr("--accumulate 1 expected, 2 found"));
  EXPECT_THAT(refused_as([](Identity& wanted) { wanted.seed = 8; }), HasSubstr("--seed 8 expected, 7 found"));
  EXPECT_THAT(refused_as([](Identity& wanted) { wanted.batch = 64; }), HasSubstr("--batch 64 expected, 32 found"));
  EXPECT_THAT(refused_as([](Identity& wanted) { wanted.data = 0; }), HasSubstr("other images"));
}

}  // namespace
}  // namespace tutti::sgd
