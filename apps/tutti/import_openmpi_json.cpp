// Open MPI 6's files of rules, in JSON. The first set of rules whose communicator fits counts, and of it the first rule
// whose size fits; if none does, Open MPI chooses itself.
#include <fmt/format.h>

#include "apps/options.hpp"
#include "apps/tutti/import_json.hpp"
#include "apps/tutti/import_openmpi.hpp"

namespace tutti::tool {
namespace {

using Form = JsonValue::Form;
constexpr std::int64_t largest = std::int64_t{1} << 50;

class OpenMpiJsonReader {
 public:
  OpenMpiJsonReader(std::string_view text, std::string_view path) : json_(text, path) {}

  ForeignFile read() && {
    const JsonValue& module = json_.need(json_.root(), "module", Form::text);
    if (module.text != "tuned") json_.fail(module.place, fmt::format("'module' is '{}'; allowed: tuned", module.text));
    for (const auto& [name, place, sets] : json_.need(json_.root(), "collectives", Form::object).members) {
      const OpenMpiCollective* const of = find_openmpi(name);
      if (of == nullptr) json_.fail(place, fmt::format("'{}' is no collective of Open MPI", name));
      json_.require(sets, Form::array, fmt::format("'{}'", name));
      for (const JsonValue& set : sets.items)
        read_set(*of, set);
    }
    return std::move(file_);
  }

 private:
  /// The end of a range: a number, or "inf".
  [[nodiscard]] std::int64_t end(const JsonValue& object, std::string_view key, std::int64_t fallback) const {
    const JsonValue* const found = json_.find(object, key);
    if (found != nullptr && found->form == Form::text && found->text == "inf") return Range::no_end;
    return json_.number(object, key, largest, fallback);
  }
  [[nodiscard]] Range range(const JsonValue& object, const std::string& key) const {
    return {end(object, key + "_min", 0), end(object, key + "_max", Range::no_end)};
  }

  void read_set(const OpenMpiCollective& of, const JsonValue& set) {
    Conditions when{.ranks = range(set, "comm_size")};
    if (const JsonValue* const found = json_.find(set, "comm_rank_distribution"); found != nullptr) {
      json_.require(*found, Form::text, "'comm_rank_distribution'");
      if (found->text == "disjoint")
        when.ppn = {1, 1};
      else if (found->text == "single-node")
        when.nodes = {1, 1};
      else if (found->text != "any")
        json_.fail(found->place,
                   fmt::format("'{}' is no distribution; allowed: any, disjoint, single-node", found->text));
    }
    if (when.ranks.least > when.ranks.most) return;  // holds for nothing
    for (const JsonValue& rule : json_.need(set, "rules", Form::array).items)
      read_rule(of, when, rule);
    if (!of.collective) return;
    // Whatever no rule of the set is for goes to no later set.
    when.uneven = of.is_uneven;
    add({.line = set.place.line, .collective = *of.collective, .when = when, .is_silent = true});
  }

  void read_rule(const OpenMpiCollective& of, const Conditions& when, const JsonValue& rule) {
    OpenMpiChoice its{.bytes = range(rule, "msg_size")};
    const JsonValue* const algorithm = json_.find(rule, "alg");
    if (algorithm == nullptr) json_.fail(rule.place, "no key 'alg'");
    if (algorithm->form == Form::text)
      its.name = algorithm->text;
    else
      its.id = json_.number(rule, "alg", 1000, 0);
    its.numbers = {.radix = json_.number(rule, "faninout", 1 << 20, 0),
                   .segment = json_.number(rule, "segsize", largest, 0),
                   .window = json_.number(rule, "reqs", 1 << 20, 0)};
    if (its.bytes.least <= its.bytes.most) add(openmpi_rule(of, when, its, rule.place.line));
  }

  void add(ForeignRule rule) {
    if (file_.rules.size() == most_foreign_rules)
      json_.fail({.line = rule.line}, fmt::format("more than {} rules", most_foreign_rules));
    file_.rules.push_back(std::move(rule));
  }

  JsonFile json_;
  ForeignFile file_{};
};

}  // namespace

ForeignFile read_openmpi_json_rules(std::string_view text, std::string_view path) {
  return OpenMpiJsonReader{text, path}.read();
}

}  // namespace tutti::tool
