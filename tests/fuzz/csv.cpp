// Images of tutti-sgd as CSV.
#include <algorithm>

#include "apps/options.hpp"
#include "apps/sgd/data_set.hpp"
#include "tests/fuzz/target.hpp"

namespace tutti::fuzz {
namespace {

void run(Input input) {
  const Source source{input};
  is_taken<apps::InputError>([&] {
    const sgd::DataSet data = sgd::parse_csv("data.csv", source.text());
    require(data.size() > 0, "a data set is empty");
    require(data.pixels.size() == data.labels.size() * static_cast<std::size_t>(data.features), "pixels are missing");
    require(std::ranges::all_of(data.pixels, [&](int pixel) { return pixel <= data.white; }), "a pixel is too white");
    require(std::ranges::all_of(data.labels, [&](int label) { return label < data.classes; }), "a label has no class");
    const sgd::Split parts = sgd::split(data, 0.5, 1);
    require(parts.train.size() + parts.test.size() == data.size(), "images are lost");
  });
}

const Registration registration{{"csv", run}};

}  // namespace
}  // namespace tutti::fuzz
