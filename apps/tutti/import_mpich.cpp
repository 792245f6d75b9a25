// MPICH's selection of algorithms, in JSON: objects whose keys are conditions, which are tried in order. What fits no
// key of an object that was entered fits nothing else either.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "apps/options.hpp"
#include "apps/tutti/import.hpp"
#include "apps/tutti/import_json.hpp"

namespace tutti::tool {
namespace {

using Form = JsonValue::Form;
constexpr std::int64_t largest = std::int64_t{1} << 50;

struct MpichCollective {
  std::string_view name;
  std::optional<Collective> collective;  ///< Nothing: Tutti has no rules for it.
  std::optional<bool> is_uneven;
  /// What a message is there: the larger buffer, the block of a rank, or nothing that all ranks know.
  enum class Message : std::uint8_t { buffer, block, unknown } message;
};
using enum MpichCollective::Message;
constexpr auto collectives = std::to_array<MpichCollective>({
    {"bcast", Collective::broadcast, std::nullopt, buffer},
    {"allreduce", Collective::allreduce, std::nullopt, buffer},
    {"reduce", Collective::reduce, std::nullopt, buffer},
    {"scan", Collective::scan, std::nullopt, buffer},
    {"exscan", Collective::exscan, std::nullopt, buffer},
    {"allgather", Collective::allgather, false, block},
    {"allgatherv", Collective::allgather, true, block},
    {"reduce_scatter", Collective::reduce_scatter, true, block},
    {"reduce_scatter_block", Collective::reduce_scatter, false, block},
    {"gather", Collective::gather, false, block},
    {"gatherv", Collective::gather, true, unknown},
    {"scatter", Collective::scatter, false, block},
    {"scatterv", Collective::scatter, true, unknown},
    {"alltoall", Collective::alltoall, false, block},
    {"alltoallv", Collective::alltoall, true, unknown},
    {"alltoallw", std::nullopt, std::nullopt, unknown},
    {"barrier", Collective::barrier, std::nullopt, unknown},
});

/// A key of a condition, cut at its operator: "avg_msg_size<=2048".
struct Key {
  std::string_view name, relation, value;
};
Key key_of(std::string_view text) {
  const std::size_t at = std::min(text.find_first_of("<="), text.size());
  const std::size_t end = text.substr(at).starts_with("<=") ? at + 2 : std::min(at + 1, text.size());
  return {text.substr(0, at), text.substr(at, end - at), text.substr(end)};
}

/// What leads to a place in the tree: the conditions, and why no call, or not exactly these calls, get there.
struct Way {
  Conditions when{};
  const MpichCollective* of = nullptr;
  std::string collective{};
  std::string inexact{};  ///< A condition that Tutti has not.
  std::string never{};    ///< No call of Tutti's gets there.
};

class MpichReader {
 public:
  MpichReader(std::string_view text, std::string_view path) : json_(text, path) {}

  ForeignFile read() && {
    json_.require(json_.root(), Form::object, "the file");
    static_cast<void>(enter(json_.root(), {}));
    return std::move(file_);
  }

 private:
  /// Whether every call that gets to the object finds an algorithm in it.
  bool enter(const JsonValue& object, const Way& way) {
    json_.require(object, Form::object, "a condition");
    bool is_complete = false;
    std::string_view answered;  // a condition with the answer yes that covers its calls
    for (const auto& [text, place, value] : object.members) {
      const Key key = key_of(text);
      if (key.name == "algorithm" || key.name == "composition") {
        leaf(key, place, value, way);
        return true;
      }
      Way below = way;
      narrow(key, place, below);
      const bool covers = enter(value, below);
      is_complete = is_complete || (covers && (key.value == "any" || (key.value == "no" && answered == key.name)));
      if (covers && key.value == "yes") answered = key.name;
      if (!covers && below.never.empty() && below.inexact.empty()) add_hole(place, below);
    }
    return is_complete;
  }

  void add_hole(TextPlace place, const Way& way) {
    if (way.of == nullptr || !way.of->collective) return;
    add({.line = place.line, .collective = *way.of->collective, .when = way.when, .is_silent = true});
  }
  void add(ForeignRule rule) {
    if (file_.rules.size() == most_foreign_rules)
      json_.fail({.line = rule.line}, fmt::format("more than {} rules", most_foreign_rules));
    file_.rules.push_back(std::move(rule));
  }

  /// The numbers in the keys of the object: {"k=2": {}}.
  [[nodiscard]] ForeignNumbers numbers_in(const JsonValue& object) const {
    ForeignNumbers numbers;
    for (const auto& [text, place, value] : object.members) {
      const Key key = key_of(text);
      const std::int64_t number = number_of(key.value).value_or(0);
      if (key.name == "k") numbers.radix = number;
      if (key.name == "chunk_size") numbers.segment = number;
      if (key.name == "batch_size" || key.name == "throttle") numbers.window = number;
    }
    return numbers;
  }

  void leaf(const Key& key, TextPlace place, const JsonValue& value, const Way& way) {
    json_.require(value, Form::object, fmt::format("'{}'", key.name));
    ForeignRule rule{.line = place.line, .when = way.when, .is_exact = false};
    rule.told = fmt::format("{}, {}", way.collective.empty() ? "no collective" : way.collective, key.value);
    if (way.of == nullptr || !way.of->collective)
      rule.remark = "Tutti has no rules for it";
    else if (rule.collective = *way.of->collective; !way.never.empty())
      rule.remark = way.never;
    else if (!way.inexact.empty())
      rule.remark = way.inexact;
    else {
      rule.is_exact = true;
      if (key.name == "composition")
        rule.remark = "a composition, whose parts are MPICH's own choice";
      else
        choose_for(rule, find_foreign(Library::mpich, rule.collective, plain(key.value, way)), key.value,
                   numbers_in(value));
    }
    add(std::move(rule));
  }

  /// "binomial" of "MPIR_Bcast_intra_binomial".
  static std::string_view plain(std::string_view name, const Way& way) {
    if (name.starts_with("MPIR_")) name.remove_prefix(5);
    const std::size_t letters = way.collective.size();
    if (name.size() > letters + 1) name.remove_prefix(letters + 1);
    for (const std::string_view part : {"intra_", "allcomm_", "sched_", "tsp_", "gentran_"})
      if (name.starts_with(part)) name.remove_prefix(part.size());
    return name;
  }

  [[nodiscard]] static std::optional<std::int64_t> number_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0 || value > largest) return std::nullopt;
    return value;
  }

  /// Cuts a range off at the value of the key; the rest fits nothing if nothing is left.
  void limit(const Key& key, TextPlace place, Range& range, Way& way) const {
    const auto number = number_of(key.value);
    if (!number || key.relation.empty()) json_.fail(place, fmt::format("'{}' is no number", key.value.substr(0, 40)));
    if (key.relation == "=") range.least = std::max(range.least, *number);
    range.most = std::min(range.most, key.relation == "<" ? *number - 1 : *number);
    if (range.least > range.most) {
      range = {0, 0};
      way.never = "its conditions contradict each other";
    }
  }

  void narrow(const Key& key, TextPlace place, Way& way) const {
    if (key.name == "collective") return choose_collective(key, way);
    if (key.name == "comm_type") {
      if (key.value == "inter") way.never = "it is for intercommunicators, which Tutti has not";
    } else if (key.value == "any") {
      return;
    } else if (key.name == "comm_size") {
      if (key.value == "pow2")
        way.when.power_of_two = true;
      else if (key.value == "node_comm_size")
        way.when.nodes = {1, 1};
      else
        limit(key, place, way.when.ranks, way);
    } else if (key.name == "comm_hierarchy" && key.value == "parent") {
      way.when.nodes.least = std::max<std::int64_t>(2, way.when.nodes.least);
      way.when.ppn.least = std::max<std::int64_t>(2, way.when.ppn.least);
    } else if (key.name == "avg_msg_size" || key.name == "total_msg_size") {
      limit_size(key, place, way);
    } else {
      narrow_by_answer(key, way);
    }
  }

  static void choose_collective(const Key& key, Way& way) {
    std::string_view name = key.value;
    way.collective = name;
    way.when.mode = records::Manner::blocking;
    const auto find = [](std::string_view wanted) {
      const auto* const found = std::ranges::find(collectives, wanted, &MpichCollective::name);
      return found == collectives.end() ? nullptr : found;
    };
    way.of = find(name);
    if (way.of == nullptr && name.starts_with('i')) {
      name.remove_prefix(1);
      way.of = find(name);
      way.when.mode = records::Manner::nonblocking;
    }
    if (way.of != nullptr) way.when.uneven = way.of->is_uneven;
  }

  void limit_size(const Key& key, TextPlace place, Way& way) const {
    const bool is_total = key.name == "total_msg_size";
    if (way.of == nullptr || way.of->message == unknown)
      way.inexact = "its ranks do not know the size";
    else if (way.of->message == buffer && is_total)
      way.inexact = "its size is that of the buffers of all ranks, which is no condition here";
    else
      limit(key, place, is_total || way.of->message == buffer ? way.when.bytes : way.when.bytes_per_rank, way);
  }

  /// Conditions that are answered by yes or no.
  static void narrow_by_answer(const Key& key, Way& way) {
    const bool yes = key.value == "yes", no = key.value == "no";
    if (key.name == "is_commutative" && (yes || no))
      way.when.commutative = yes;
    else if (key.name == "is_node_consecutive" && (yes || no))
      way.when.consecutive = yes;
    else if (((key.name == "is_sendbuf_inplace" || key.name == "is_sbuf_inplace") && no) ||
             (key.name == "is_op_built_in" && yes) || (key.name == "is_block_regular" && no) ||
             (key.name == "is_multi_threaded" && no))
      return;  // the usual calls, which stand for all, as Tutti does not tell them apart
    else
      way.inexact = fmt::format("Tutti has no condition '{}{}{}'", key.name, key.relation, key.value.substr(0, 40));
  }

  JsonFile json_;
  ForeignFile file_{};
};

}  // namespace

ForeignFile read_mpich_rules(std::string_view text, std::string_view path) { return MpichReader{text, path}.read(); }

}  // namespace tutti::tool
