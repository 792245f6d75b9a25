// The perceptron: its gradient against finite differences, its loss where it is known.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "apps/sgd/model.hpp"

namespace tutti::sgd {
namespace {

std::vector<double> random_values(std::size_t size, double limit, std::uint64_t seed) {
  Random random{seed, Random::Purpose::order};
  std::vector<double> values(size);
  for (double& value : values) {
    value = random.uniform(-limit, limit);
  }
  return values;
}

class Gradient : public testing::TestWithParam<std::vector<int>> {};

TEST_P(Gradient, AgreesWithFiniteDifferences) {
  const Shape shape{GetParam()};
  Perceptron<double> model{shape};
  const std::vector<double> input = random_values(static_cast<std::size_t>(GetParam().front()), 1, 3);
  std::vector<double> parameters = random_values(shape.parameter_count(), 0.7, 4);
  const int label = GetParam().back() - 1;
  std::vector<double> gradient(parameters.size());
  model.differentiate(parameters, input, label, gradient);
  constexpr double distance = 1e-6;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double here = parameters[i];
    parameters[i] = here + distance;
    const double above = model.evaluate(parameters, input, label).loss;
    parameters[i] = here - distance;
    const double below = model.evaluate(parameters, input, label).loss;
    parameters[i] = here;
    EXPECT_NEAR(gradient[i], (above - below) / (2 * distance), 1e-7) << "parameter " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Gradient,
                         testing::Values(std::vector{3, 2}, std::vector{5, 4, 3}, std::vector{4, 6, 5, 3},
                                         std::vector{2, 3, 3, 3, 2}, std::vector{1, 1, 1}, std::vector{7, 9, 10}));

TEST(Perceptron, AddsToTheGradient) {
  const Shape shape{{3, 2}};
  Perceptron<double> model{shape};
  const auto input = random_values(3, 1, 1), parameters = random_values(shape.parameter_count(), 1, 2);
  std::vector<double> once(parameters.size()), twice(parameters.size());
  model.differentiate(parameters, input, 0, once);
  model.differentiate(parameters, input, 0, twice);
  model.differentiate(parameters, input, 0, twice);
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_DOUBLE_EQ(twice[i], 2 * once[i]);
  }
}

TEST(Perceptron, KnowsNothingWithoutWeights) {
  const Shape shape{{3, 4, 5}};
  Perceptron<double> model{shape};
  const std::vector<double> parameters(shape.parameter_count()), input(3, 1.0);
  EXPECT_NEAR(model.evaluate(parameters, input, 2).loss, std::log(5.0), 1e-15);
}

TEST(Perceptron, LossDoesNotOverflow) {
  Perceptron<float> model{Shape{{1, 2}}};
  const std::vector<float> parameters{1e4F, -1e4F, 0, 0}, input{1};
  EXPECT_FLOAT_EQ(model.evaluate(parameters, input, 0).loss, 0);
  EXPECT_TRUE(model.evaluate(parameters, input, 0).correct);
  EXPECT_FLOAT_EQ(model.evaluate(parameters, input, 1).loss, 2e4F);
  EXPECT_FALSE(model.evaluate(parameters, input, 1).correct);
}

TEST(Perceptron, PassesNaNOn) {
  const Shape shape{{1, 3, 2}};
  Perceptron<double> model{shape};
  std::vector<double> parameters(shape.parameter_count(), 0.5);
  parameters[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(model.evaluate(parameters, std::vector<double>{1}, 0).loss));
}

TEST(Perceptron, StartsFromTheSeed) {
  const Shape shape{{10, 20, 5}};
  EXPECT_EQ(shape.parameter_count(), 11U * 20 + 21 * 5);
  std::vector<double> first(shape.parameter_count()), again = first, other = first;
  for (auto* const parameters : {&first, &again, &other}) {
    Random random{parameters == &other ? 2U : 1U, Random::Purpose::weights};
    initialize(shape, std::span{*parameters}, random);
  }
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
  EXPECT_EQ(first.back(), 0) << "biases start at 0";
}

}  // namespace
}  // namespace tutti::sgd
