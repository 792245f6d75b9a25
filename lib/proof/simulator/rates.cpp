#include <fmt/format.h>

#include <functional>
#include <map>

#include "lib/core/files/json_reader.hpp"
#include "machine.hpp"

namespace tutti::simulator {
namespace {

constexpr int rates_version = 1;
constexpr std::size_t longest_file = 1 << 20;

class RatesReader : private JsonReader {
 public:
  explicit RatesReader(std::string_view path) : JsonReader(path), path_(path) {}

  Rates read(std::string_view text) && {
    const JsonValue root = parsed(text, longest_file);
    bool has_version = false;
    std::vector<Key> keys{
        {"tutti_rates",
         [&](const JsonValue& value) {
           has_version = integer(value, "tutti_rates", rates_version, rates_version) != 0;
         }},
        {"made", [](const JsonValue&) {}},  // for people
        {"eager", [&](const JsonValue& value) { rates_.eager = integer(value, "eager", 0, std::int64_t{1} << 50); }}};
    std::map<std::string, std::vector<Key>, std::less<>> levels;
    for (const auto& [name, value] : named_rates(rates_)) {
      const std::size_t dot = name.find('.');
      std::vector<Key>& here = dot == std::string_view::npos ? keys : levels[std::string{name.substr(0, dot)}];
      const std::string_view key = dot == std::string_view::npos ? name : name.substr(dot + 1);
      here.push_back(
          {key, [this, key, value = value](const JsonValue& given) { *value = positive(given, key, most_rate); }});
    }
    for (const auto& level : levels)
      keys.push_back({level.first, [&](const JsonValue& given) { read_object(given, level.first, level.second); }});
    read_object(root, "a file of rates", keys);
    if (!has_version)
      fail(root.place,
           fmt::format("no key 'tutti_rates'; needed: \"tutti_rates\": {}, the version of the form", rates_version));
    rates_.source = path_;
    return std::move(rates_);
  }

 private:
  std::string path_;
  Rates rates_;
};

}  // namespace

std::vector<NamedRate> named_rates(Rates& rates) {
  return {{"overhead", &rates.overhead},
          {"gap", &rates.gap},
          {"handshake", &rates.handshake},
          {"reduced", &rates.reduced},
          {"copied", &rates.copied},
          {"memory", &rates.memory},
          {"socket.latency", &rates.socket.latency},
          {"socket.bandwidth", &rates.socket.bandwidth},
          {"node.latency", &rates.node.latency},
          {"node.bandwidth", &rates.node.bandwidth},
          {"network.latency", &rates.network.latency},
          {"network.bandwidth", &rates.network.bandwidth},
          {"link.latency", &rates.link.latency},
          {"link.bandwidth", &rates.link.bandwidth}};
}

Rates read_rates(std::string_view text, std::string_view path) { return RatesReader{path}.read(text); }

}  // namespace tutti::simulator
