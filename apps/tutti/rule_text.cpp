#include "apps/tutti/rule_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "apps/options.hpp"
#include "lib/core/selection/site_rules.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {
namespace {

/// The conditions that are true or false, with their keys, and the facts that they are compared with.
struct Flag {
  const char* key;
  std::optional<bool> Conditions::*wanted;
  bool (*fact)(const Question& question);
};
constexpr Flag flags[] = {
    {"commutative", &Conditions::commutative, [](const Question& q) { return q.is_commutative; }},
    {"uneven", &Conditions::uneven, [](const Question& q) { return q.is_uneven; }},
    {"shares_memory", &Conditions::shares_memory, [](const Question& q) { return q.shares_memory; }},
    {"shares_processors", &Conditions::shares_processors, [](const Question& q) { return q.shares_processors; }},
    {"maps_devices", &Conditions::maps_devices, [](const Question& q) { return q.maps_devices; }},
    {"power_of_two", &Conditions::power_of_two,
     [](const Question& q) { return std::has_single_bit(static_cast<unsigned>(q.ranks)); }},
    {"consecutive", &Conditions::consecutive, [](const Question& q) { return follow_each_other(q.spread); }},
};

template <class T>
bool agree(const std::optional<T>& a, const std::optional<T>& b) {
  return !a || !b || *a == *b;
}
bool meet(const Range& a, const Range& b) { return a.least <= b.most && b.least <= a.most; }

/// `a` times `b`, at most Range::no_end.
std::int64_t product(std::int64_t a, std::int64_t b) { return b != 0 && a > Range::no_end / b ? Range::no_end : a * b; }
/// The bytes of shares in `share`, of `parts` parts.
Range whole_of(const Range& share, const Range& parts) {
  return {product(share.least, std::max<std::int64_t>(1, parts.least)), product(share.most, parts.most)};
}

/// "ranks is 2 to 4, and here are 8"
std::string off(const char* key, const Range& range, std::int64_t here) {
  return range.contains(here) ? "" : fmt::format("{}: {}, and here {}", key, range_text(range), here);
}
std::string off_share(const char* key, const Range& range, std::int64_t whole, int parts) {
  if (range.is_open() || range.contains_share(whole, parts)) return "";
  return fmt::format("{}: {}, and here {:g}", key, range_text(range), static_cast<double>(whole) / parts);
}
std::string off_sizes(const Conditions& when, const Question& question) {
  const std::int64_t bytes = question.bytes.value();
  if (bytes < 0) {
    const bool is_open = when.bytes.is_open() && when.bytes_per_rank.is_open() && when.bytes_per_node.is_open();
    return is_open ? "" : "bytes: ranks know only their own";
  }
  for (const std::string& why :
       {off("bytes", when.bytes, bytes), off_share("bytes_per_rank", when.bytes_per_rank, bytes, question.ranks),
        off_share("bytes_per_node", when.bytes_per_node, bytes, question.nodes)})
    if (!why.empty()) return why;
  return "";
}
std::string_view name_of(const std::optional<records::Manner>& mode) {
  return mode ? manner_names[static_cast<std::size_t>(*mode)] : "any";
}

}  // namespace

std::string range_text(const Range& range, const char* open) {
  if (range.is_open()) return open;
  if (range.least == range.most) return fmt::to_string(range.least);
  if (range.most == Range::no_end) return fmt::format("{} and more", range.least);
  if (range.least == 0) return fmt::format("up to {}", range.most);
  return fmt::format("{} to {}", range.least, range.most);
}

std::string sizes_text(const Conditions& when) {
  std::string text;
  const auto add = [&](const Range& range, const char* of) {
    if (!range.is_open()) text += fmt::format("{}{}{}", text.empty() ? "" : ", ", range_text(range), of);
  };
  add(when.bytes, "");
  add(when.bytes_per_rank, " per rank");
  add(when.bytes_per_node, " per node");
  return text.empty() ? "any" : text;
}

std::string facts_text(const Conditions& when) {
  std::string text;
  const auto add = [&](std::string_view fact) { text += fmt::format("{}{}", text.empty() ? "" : ", ", fact); };
  if (!when.ppn.is_open()) add(fmt::format("ppn {}", range_text(when.ppn)));
  if (when.memory) add(fmt::format("{} memory", assumed_memory_names[static_cast<std::size_t>(*when.memory)]));
  if (when.mode) add(name_of(when.mode));
  for (const Flag& flag : flags)
    if (const std::optional<bool>& wanted = when.*flag.wanted)
      add(fmt::format("{}{}", *wanted ? "" : "not ", flag.key));
  return text.empty() ? "-" : text;
}

std::string gain_text(const Measured& measured) {
  std::string text;
  const auto add = [&](double other, std::string_view name) {
    if (measured.us > 0 && other >= measured.us && !name.empty())
      text += fmt::format("{}{:.2f} times {}", text.empty() ? "" : ", ", other / measured.us, name);
  };
  add(measured.default_us, "the default");
  add(measured.next_us, measured.next);
  add(measured.mpi_us, "the MPI");
  return text;
}

std::string why_passed_over(const Rule& rule, const Question& question) {
  const Conditions& when = rule.when;
  for (const std::string& why : {off("ranks", when.ranks, question.ranks), off("nodes", when.nodes, question.nodes),
                                 off("ppn", when.ppn, question.ranks_per_node()), off_sizes(when, question)})
    if (!why.empty()) return why;
  if (when.memory && *when.memory != question.memory)
    return fmt::format("memory: {}, and here {}", assumed_memory_names[static_cast<std::size_t>(*when.memory)],
                       assumed_memory_names[static_cast<std::size_t>(question.memory)]);
  if (when.mode && when.mode != question.manner)
    return fmt::format("mode: {}, and here {}", name_of(when.mode), name_of(question.manner));
  for (const Flag& flag : flags) {
    const std::optional<bool>& wanted = when.*flag.wanted;
    if (wanted && *wanted != flag.fact(question))
      return fmt::format("{}: {}, and here {}", flag.key, *wanted, !*wanted);
  }
  if (question.bytes.value() > rule.most_bytes)
    return fmt::format("{} would be cut into too many segments", to_text(rule.choice));
  if (is_named_file(*rule.choice.algorithm) && !serving(rule.choice, question)) {
    const bool is_read = question.files != nullptr && question.files->contains(rule.choice.algorithm);
    return fmt::format("{}: {}", to_text(rule.choice),
                       is_read ? why_unfit(*question.files->at(rule.choice.algorithm), question) : "it cannot be used");
  }
  if (serving(rule.choice, question)) return "";
  if (question.gathers) return fmt::format("{} lets partial results travel", to_text(rule.choice));
  if (question.bits == Bits::fixed && rule.choice.algorithm->bits != Bits::fixed)
    return fmt::format("{} keeps no fixed order", to_text(rule.choice));
  return fmt::format("{} needs a commutative operation", to_text(rule.choice));
}

bool may_be_uneven(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::allgather ||
         !is_size_known(collective, true);
}

bool is_size_known(Collective collective, bool is_uneven) {
  return !is_uneven ||
         (collective != Collective::gather && collective != Collective::scatter && collective != Collective::alltoall);
}

bool may_meet(const Conditions& a, const Conditions& b) {
  if (!meet(a.ranks, b.ranks) || !meet(a.nodes, b.nodes) || !meet(a.ppn, b.ppn) || !meet(a.bytes, b.bytes) ||
      !meet(a.bytes_per_rank, b.bytes_per_rank) || !meet(a.bytes_per_node, b.bytes_per_node) ||
      !agree(a.memory, b.memory) || !agree(a.mode, b.mode))
    return false;
  const auto cross = [](const Conditions& one, const Conditions& other) {
    const Range ranks{std::max(one.ranks.least, other.ranks.least), std::min(one.ranks.most, other.ranks.most)};
    const Range nodes{std::max(one.nodes.least, other.nodes.least), std::min(one.nodes.most, other.nodes.most)};
    return meet(one.bytes, whole_of(other.bytes_per_rank, ranks)) &&
           meet(one.bytes, whole_of(other.bytes_per_node, nodes));
  };
  return cross(a, b) && cross(b, a) &&
         std::ranges::all_of(flags, [&](const Flag& flag) { return agree(a.*flag.wanted, b.*flag.wanted); });
}

RuleFile load_rules(const std::string& path) {
  try {
    if (path == "builtin") return read_rule_file(builtin_text(), "built-in rules");
    return read_rule_file(read_rule_text(path), path);
  } catch (const ArgumentError& error) {
    throw apps::InputError(error.what());
  }
}

}  // namespace tutti::tool
