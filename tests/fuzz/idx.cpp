// Images of tutti-sgd as IDX files: an input is the length of the first file in two bytes, then both.
#include "apps/options.hpp"
#include "apps/sgd/data_set.hpp"
#include "tests/fuzz/target.hpp"

namespace tutti::fuzz {
namespace {

void run(Input input) {
  Source source{input};
  const std::size_t length = source.next<std::uint16_t>();
  const std::string_view all = source.text(), images = all.substr(0, length), labels = all.substr(images.size());
  const std::string image_name = "images", label_name = "labels";
  is_taken<apps::InputError>([&] {
    const sgd::DataSet data = sgd::parse_idx({image_name, images}, {label_name, labels});
    require(data.size() > 0 && data.features > 0, "a data set is empty");
    require(data.pixels.size() == data.labels.size() * static_cast<std::size_t>(data.features), "pixels are missing");
    for (int image = 0; image < data.size(); ++image)
      require(data.labels[static_cast<std::size_t>(image)] < data.classes, "a label has no class");
  });
}

const Registration registration{{"idx", run}};

}  // namespace
}  // namespace tutti::fuzz
