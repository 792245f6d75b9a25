// Texts about machines: lines of /sys, the links between devices, CUDA_VISIBLE_DEVICES.
#include <algorithm>

#include "lib/topology/distance.hpp"
#include "lib/topology/gpus.hpp"
#include "lib/topology/sysfs.hpp"
#include "tests/fuzz/target.hpp"

namespace tutti::fuzz {
namespace {

using namespace topology;

void run(Input input) {
  const Source source{input};
  const std::string text{source.text()};
  static_cast<void>(number_of(text, 0));
  static_cast<void>(whole_number_of(text, -1));
  const Link link = link_of(text);
  require(link_of(to_string(link)) == link, "a link is read as another one");
  std::vector<Gpu> gpus(3);
  gpus[0].uuid = "GPU-12";
  gpus[1].uuid = "GPU-13";
  const Numbers visible = visible_gpus(gpus, text.c_str());
  require(std::ranges::is_sorted(visible), "numbers do not ascend");
  require(std::ranges::all_of(visible, [](int gpu) { return gpu >= 0 && gpu < 3; }), "there is no such GPU");
}

const Registration registration{{"topology", run}};

}  // namespace
}  // namespace tutti::fuzz
