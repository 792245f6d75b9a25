// Networks on the host: their gradients against finite differences, their losses where they are known, products of
// matrices, numbers of 16 bits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "apps/options.hpp"
#include "apps/sgd/model.hpp"
#include "tutti/datatype.hpp"

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

/// A few images of noise.
Split noise(int height, int width, int classes, int images = 3) {
  DataSet data{"noise", height * width, height, classes, 255, {}, {}};
  Random random{5, Random::Purpose::split};
  for (int image = 0; image < images; ++image) {
    for (int point = 0; point < data.features; ++point)
      data.pixels.push_back(static_cast<std::uint8_t>(random.below(256)));
    data.labels.push_back(static_cast<std::uint8_t>(image % classes));
  }
  return {data, data};
}

/// A network with its parameters on the host.
template <class T>
class Host {
 public:
  Host(Network network, Split data, Products products = Products::in_order, std::size_t most = most_values)
      : network_(std::move(network)),
        data_(std::move(data)),
        machine_(products),
        parameters_(machine_, network_, std::nullopt),
        model_(machine_, network_, data_, data_.train.size(), most) {
    order_.resize(static_cast<std::size_t>(data_.train.size()));
    for (std::size_t i = 0; i < order_.size(); ++i)
      order_[i] = static_cast<int>(i);
  }
  [[nodiscard]] std::size_t size() const { return network_.parameter_count(); }
  void set(const std::vector<T>& values) { parameters_.take(values.data(), 0, values.size()); }
  Totals evaluate() {
    model_.begin_epoch(order_);
    for (std::size_t done = 0; done < order_.size(); done += model_.at_once())
      model_.forward(parameters_, {done, std::min(model_.at_once(), order_.size() - done)}, T{1});
    return model_.totals();
  }
  std::vector<T> gradient(T scale = T{1}) {
    std::vector<T> sums(size());
    model_.begin_epoch(order_);
    for (std::size_t done = 0; done < order_.size(); done += model_.at_once()) {
      model_.forward(parameters_, {done, std::min(model_.at_once(), order_.size() - done)}, scale);
      model_.backward(parameters_, sums.data(), [this](std::size_t layer) { ready_.push_back(layer); });
    }
    return sums;
  }
  [[nodiscard]] const std::vector<std::size_t>& ready() const { return ready_; }

 private:
  Network network_;
  Split data_;
  Machine machine_;
  Parameters<T> parameters_;
  Model<T> model_;
  std::vector<int> order_;
  std::vector<std::size_t> ready_;
};

void expect_gradient_of_differences(const Network& network, const Split& data) {
  Host<double> host{network, data};
  std::vector<double> parameters = random_values(host.size(), 0.7, 4);
  host.set(parameters);
  const std::vector<double> gradient = host.gradient();
  constexpr double distance = 1e-6;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto loss = [&](double value) {
      std::vector<double> changed = parameters;
      changed[i] = value;
      host.set(changed);
      return host.evaluate().loss;
    };
    const double slope = (loss(parameters[i] + distance) - loss(parameters[i] - distance)) / (2 * distance);
    EXPECT_NEAR(gradient[i], slope, 1e-6) << network.name() << ", parameter " << i;
  }
}

TEST(Model, GradientsOfPerceptronsAgreeWithFiniteDifferences) {
  for (const auto& widths :
       std::vector<std::vector<int>>{{3, 2}, {5, 4, 3}, {4, 6, 5, 3}, {2, 3, 3, 3, 2}, {1, 1, 1}, {7, 9, 10}})
    expect_gradient_of_differences(Network::perceptron(widths), noise(1, widths.front(), widths.back()));
}

TEST(Model, GradientsOfConvolutionsAgreeWithFiniteDifferences) {
  const std::vector<int> both{2, 3}, one{2}, hidden{4}, none;
  expect_gradient_of_differences(Network::convolutional({5, 4, 1}, both, hidden, 3), noise(5, 4, 3));
  expect_gradient_of_differences(Network::convolutional({7, 6, 1}, one, none, 2), noise(7, 6, 2));
}

TEST(Model, SmallImagesHaveNoConvolutions) {
  const std::vector<int> channels{2, 3};
  EXPECT_THROW(static_cast<void>(Network::convolutional({3, 9, 1}, channels, channels, 3)), apps::InputError);
}

TEST(Model, NamesItsLayers) {
  const std::vector<int> channels{16, 32}, hidden{64};
  EXPECT_EQ(Network::perceptron({64, 20, 10}).name(), "64-20-10");
  const Network network = Network::convolutional({8, 8, 1}, channels, hidden, 10);
  EXPECT_EQ(network.name(), "8x8x1 conv 16 conv 32-64-10");
  EXPECT_EQ(network.parameter_count(), 10U * 16 + 145 * 32 + 129 * 64 + 65 * 10);
}

/// Gradients are completed from the last layer to the first.
TEST(Model, TellsWhichGradientIsReady) {
  Host<double> host{Network::perceptron({4, 3, 3, 2}), noise(2, 2, 2)};
  static_cast<void>(host.gradient());
  EXPECT_EQ(host.ready(), (std::vector<std::size_t>{2, 1, 0}));
}

TEST(Model, BitsDoNotDependOnHowManyImagesAreComputedAtOnce) {
  const std::vector<int> channels{2, 3}, hidden{4};
  for (const Network& network :
       {Network::perceptron({30, 11, 3}), Network::convolutional({5, 6, 1}, channels, hidden, 3)}) {
    Host<float> all{network, noise(5, 6, 3, 9)}, some{network, noise(5, 6, 3, 9), Products::in_order, 1000},
        each{network, noise(5, 6, 3, 9), Products::in_order, 1};
    std::vector<float> parameters(all.size());
    Random random{1, Random::Purpose::weights};
    initialize(network, std::span{parameters}, random);
    for (auto* const host : {&all, &some, &each})
      host->set(parameters);
    const std::vector<float> expected = all.gradient();
    EXPECT_EQ(some.gradient(), expected);
    EXPECT_EQ(each.gradient(), expected);
    EXPECT_EQ(each.evaluate().loss, all.evaluate().loss);
  }
}

TEST(Model, GradientsGrowWithTheScaleOfTheLoss) {
  Host<double> host{Network::perceptron({4, 3, 2}), noise(2, 2, 2)};
  host.set(random_values(host.size(), 1, 2));
  const std::vector<double> once = host.gradient(), scaled = host.gradient(1024);
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_EQ(scaled[i], 1024 * once[i]);
  }
}

TEST(Model, KnowsNothingWithoutWeights) {
  Host<double> host{Network::perceptron({6, 4, 5}), noise(2, 3, 5)};
  host.set(std::vector<double>(host.size()));
  EXPECT_NEAR(host.evaluate().loss, 3 * std::log(5.0), 1e-14);
}

TEST(Model, LossDoesNotOverflow) {
  const Split data{{"one", 1, 1, 2, 1, {1, 1}, {0, 1}}, {"one", 1, 1, 2, 1, {1, 1}, {0, 1}}};
  Host<float> host{Network::perceptron({1, 2}), data};
  host.set({1e4F, -1e4F, 0, 0});
  EXPECT_DOUBLE_EQ(host.evaluate().loss, 2e4);
  EXPECT_EQ(host.evaluate().correct, 1);
}

TEST(Model, PassesNaNOn) {
  Host<double> host{Network::perceptron({4, 3, 2}), noise(2, 2, 2)};
  std::vector<double> parameters(host.size(), 0.5);
  parameters[0] = std::numeric_limits<double>::quiet_NaN();
  host.set(parameters);
  EXPECT_TRUE(std::isnan(host.evaluate().loss));
}

TEST(Model, StartsFromTheSeed) {
  const Network network = Network::perceptron({10, 20, 5});
  EXPECT_EQ(network.parameter_count(), 11U * 20 + 21 * 5);
  std::vector<double> first(network.parameter_count()), again = first, other = first;
  for (auto* const parameters : {&first, &again, &other}) {
    Random random{parameters == &other ? 2U : 1U, Random::Purpose::weights};
    initialize(network, std::span{*parameters}, random);
  }
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
  EXPECT_EQ(first.back(), 0) << "biases start at 0";
}

/// Of every form that a training uses.
template <class T, class Multiply>
void expect_products(double tolerance, const Multiply& multiply) {
  for (const std::size_t rows : {1, 3, 4, 9})
    for (const std::size_t columns : {1, 5, 64, 130})
      for (const std::size_t depth : {1, 7, 256, 300})
        for (int form = 0; form < 3; ++form) {
          std::vector<T> a(rows * depth), b(depth * columns), result(rows * columns);
          const auto fill = [](std::vector<T>& values, std::uint64_t seed) {
            const std::vector<double> random = random_values(values.size(), 1, seed);
            std::copy(random.begin(), random.end(), values.begin());
          };
          fill(a, 1), fill(b, 2), fill(result, 3);
          Matrix<T> left{a.data(), depth}, right{b.data(), columns};
          if (form == 1) left = Matrix<T>{a.data(), rows}.transposed();
          if (form == 2) right = Matrix<T>{b.data(), depth}.transposed();
          std::vector<T> expected = result;
          for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t c = 0; c < columns; ++c)
              for (std::size_t k = 0; k < depth; ++k) {
                const T product = left.from(r, k).data[0] * right.from(k, c).data[0];
                expected[r * columns + c] = expected[r * columns + c] + product;
              }
          multiply(Product<T>{left, right, result.data(), rows, columns, depth});
          for (std::size_t i = 0; i < result.size(); ++i)
            ASSERT_NEAR(result[i], expected[i], tolerance)
                << rows << 'x' << columns << 'x' << depth << ", form " << form;
        }
}

TEST(Products, AddInOrder) {
  expect_products<double>(1e-13, [](const Product<double>& product) { multiply_in_order(product); });
  expect_products<float>(1e-4, [](const Product<float>& product) { multiply_in_order(product); });
}

TEST(Products, OfOpenBlasAreTheSameToRounding) {
  if (!has_openblas()) GTEST_SKIP() << "built without OpenBLAS";
  expect_products<double>(1e-13, [](const Product<double>& product) { multiply_by_openblas(product); });
  expect_products<float>(1e-4, [](const Product<float>& product) { multiply_by_openblas(product); });
}

TEST(Products, LongOnesArePaused) {
  Machine machine{Products::in_order};
  int pauses = 0;
  machine.set_pause([&] { ++pauses; });
  const std::vector<float> a(200 * 400), b(400 * 500);
  std::vector<float> result(200 * 500);
  machine.multiply(Product<float>{{a.data(), 400}, {b.data(), 500}, result.data(), 200, 500, 400});
  EXPECT_EQ(pauses, 2);
}

/// Against the types of the library: all numbers of 16 bits, and what lies between them.
template <class T>
void expect_format(Format16 format) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto narrow = static_cast<std::uint16_t>(bits);
    const float wide = widened(format, narrow);
    const auto expected = static_cast<float>(T::from_bits(narrow));
    ASSERT_TRUE(wide == expected || (std::isnan(wide) && std::isnan(expected))) << bits;
    if (std::isnan(wide)) continue;
    for (const float value : {wide, std::nextafter(wide, 1e30F), std::nextafter(wide, -1e30F), wide * 1.0003F,
                              wide * 1.00390625F, wide * 1.001953125F}) {
      ASSERT_EQ(narrowed(format, value), T{value}.bits()) << value;
    }
  }
  EXPECT_TRUE(std::isnan(widened(format, narrowed(format, std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Format16, RoundsAsTheTypesOfTheLibrary) {
  expect_format<BFloat16>(Format16::bf16);
  expect_format<Half>(Format16::fp16);
}

}  // namespace
}  // namespace tutti::sgd
