// Open MPI's classic files of rules: numbers in order.
#include "apps/tutti/import_openmpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "apps/options.hpp"

namespace tutti::tool {
namespace {

using enum Collective;
using enum OpenMpiCollective::Size;
constexpr auto collectives = std::to_array<OpenMpiCollective>({
    {0, "allgather", allgather, false, whole},
    {1, "allgatherv", allgather, true, whole},
    {2, "allreduce", allreduce, std::nullopt, whole},
    {3, "alltoall", alltoall, false, whole},
    {4, "alltoallv", alltoall, true, none},
    {5, "alltoallw", std::nullopt, std::nullopt, none},
    {6, "barrier", barrier, std::nullopt, none},
    {7, "bcast", broadcast, std::nullopt, whole},
    {8, "exscan", exscan, std::nullopt, of_element},
    {9, "gather", gather, false, whole},
    {10, "gatherv", std::nullopt, std::nullopt, none},
    {11, "reduce", reduce, std::nullopt, whole},
    {12, "reduce_scatter", reduce_scatter, true, whole},
    {13, "reduce_scatter_block", reduce_scatter, false, whole},
    {14, "scan", scan, std::nullopt, of_element},
    {15, "scatter", scatter, false, whole},
});

/// Some of the same algorithms have other numbers or names where blocks differ.
struct Renamed {
  std::string_view collective;
  int id;
  std::string_view theirs, name;
};
constexpr auto renamed = std::to_array<Renamed>({
    {"allgatherv", 1, "default", "linear"},
    {"allgatherv", 2, "bruck", "bruck"},
    {"allgatherv", 3, "ring", "ring"},
    {"allgatherv", 4, "neighbor", "neighbor"},
    {"allgatherv", 5, "two_proc", "two_proc"},
    {"allgatherv", 6, "sparbit", "sparbit"},
    {"alltoallv", 1, "basic_linear", "linear"},
    {"alltoallv", 2, "pairwise", "pairwise"},
    {"reduce_scatter_block", 1, "basic_linear", "non-overlapping"},
    {"reduce_scatter_block", 2, "recursive_doubling", "recursive_doubling"},
    {"reduce_scatter_block", 3, "recursive_halving", "recursive_halving"},
    {"reduce_scatter_block", 4, "butterfly", "butterfly"},
});

const ForeignName* name_of(const OpenMpiCollective& of, const OpenMpiChoice& its) {
  if (std::ranges::find(renamed, of.name, &Renamed::collective) == renamed.end())
    return its.name.empty() ? find_foreign(Library::openmpi, *of.collective, static_cast<int>(its.id))
                            : find_foreign(Library::openmpi, *of.collective, its.name);
  for (const Renamed& each : renamed)
    if (each.collective == of.name && (its.name.empty() ? each.id == its.id : each.theirs == its.name))
      return find_foreign(Library::openmpi, *of.collective, each.name);
  return nullptr;
}

/// Takes whole numbers off a text, in which # begins a comment.
class NumberReader {
 public:
  NumberReader(std::string_view text, std::string_view path) : rest_(text), path_(path) {}

  [[nodiscard]] int line() const { return line_; }
  [[noreturn]] void fail(const std::string& why) const {
    throw apps::InputError(fmt::format("{}:{}: {}", path_, line_, why));
  }
  /// Skips blanks and comments; whether nothing is left.
  bool is_over() {
    for (;;) {
      while (!rest_.empty() && std::string_view{" \t\r\n\v\f"}.find(rest_.front()) != std::string_view::npos) {
        line_ += rest_.front() == '\n' ? 1 : 0;
        rest_.remove_prefix(1);
      }
      if (!rest_.starts_with('#')) return rest_.empty();
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    }
  }
  std::int64_t next(std::string_view what, std::int64_t most) {
    if (is_over()) fail(fmt::format("the file ends before {}", what));
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t\r\n\v\f#"));
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || value < 0 || value > most)
      fail(fmt::format("'{}' is no {}; allowed: 0 to {}", word.substr(0, 40), what, most));
    rest_.remove_prefix(word.size());
    return value;
  }
  /// The version of the form, in the first word; 1 if it does not say.
  std::int64_t version() {
    constexpr std::string_view key = "rule-file-version-";
    if (is_over() || !rest_.starts_with(key)) return 1;
    rest_.remove_prefix(key.size());
    return next("version", 2);
  }

 private:
  std::string_view rest_, path_;
  int line_ = 1;
};

constexpr std::int64_t largest = std::int64_t{1} << 50;

class ClassicReader {
 public:
  ClassicReader(std::string_view text, std::string_view path) : numbers_(text, path) {}

  ForeignFile read() && {
    version_ = numbers_.version();
    const std::int64_t count = numbers_.next("number of collectives", std::ssize(collectives) * 4);
    for (std::int64_t i = 0; i < count; ++i)
      read_collective_rules();
    if (!numbers_.is_over()) numbers_.fail("more than the rules that were counted");
    return std::move(file_);
  }

 private:
  void read_collective_rules() {
    const OpenMpiCollective* const of = find_openmpi(numbers_.next("collective", largest));
    if (of == nullptr) numbers_.fail("no collective has this number; allowed: 0 to 15");
    const std::int64_t sizes = numbers_.next("number of communicator sizes", most_foreign_rules);
    std::int64_t from = 0;
    for (std::int64_t i = 0; i < sizes; ++i) {
      // The first ones are for smaller communicators, too. A size is open until the next one is read.
      const std::int64_t ranks = numbers_.next("communicator size", largest);
      if (i > 0) close(&Conditions::ranks, ranks, first_of_size_);
      from = i == 0 ? 0 : std::max(from, ranks);
      first_of_size_ = file_.rules.size();
      read_sizes(*of, {from, Range::no_end});
    }
  }
  /// The rules from `first` on end before `next`; those of which nothing is left go.
  void close(Range Conditions::*member, std::int64_t next, std::size_t first) {
    for (std::size_t i = first; i < file_.rules.size(); ++i)
      (file_.rules[i].when.*member).most = next - 1;
    const auto is_empty = [&](const ForeignRule& rule) { return (rule.when.*member).least > (rule.when.*member).most; };
    file_.rules.erase(
        std::remove_if(file_.rules.begin() + static_cast<std::ptrdiff_t>(first), file_.rules.end(), is_empty),
        file_.rules.end());
  }
  void read_sizes(const OpenMpiCollective& of, const Range& ranks) {
    const std::int64_t count = numbers_.next("number of rules", most_foreign_rules);
    std::vector<std::pair<int, OpenMpiChoice>> choices;
    for (std::int64_t i = 0; i < count; ++i) {
      OpenMpiChoice its;
      its.bytes.least = numbers_.next("message size", largest);
      const int line = numbers_.line();
      its.id = numbers_.next("algorithm", 1000);
      its.numbers.radix = numbers_.next("fan-out", 1 << 20);
      its.numbers.segment = numbers_.next("segment size", largest);
      if (version_ >= 2) its.numbers.window = numbers_.next("number of requests", 1 << 20);
      if (i == 0 && its.bytes.least != 0) numbers_.fail("the first rule is not for 0 bytes, which Open MPI needs");
      if (!choices.empty()) {
        its.bytes.least = std::max(its.bytes.least, choices.back().second.bytes.least);
        choices.back().second.bytes.most = its.bytes.least - 1;
      }
      choices.emplace_back(line, its);
    }
    for (const auto& [line, its] : choices)
      if (its.bytes.least <= its.bytes.most) file_.rules.push_back(openmpi_rule(of, {.ranks = ranks}, its, line));
    if (file_.rules.size() > most_foreign_rules) numbers_.fail(fmt::format("more than {} rules", most_foreign_rules));
  }

  NumberReader numbers_;
  std::int64_t version_ = 1;
  ForeignFile file_{};
  std::size_t first_of_size_ = 0;
};

}  // namespace

const OpenMpiCollective* find_openmpi(std::int64_t id) {
  const auto* const found = std::ranges::find(collectives, id, &OpenMpiCollective::id);
  return found == collectives.end() ? nullptr : found;
}
const OpenMpiCollective* find_openmpi(std::string_view name) {
  const auto* const found = std::ranges::find(collectives, name, &OpenMpiCollective::name);
  return found == collectives.end() ? nullptr : found;
}

ForeignRule openmpi_rule(const OpenMpiCollective& of, Conditions when, const OpenMpiChoice& its, int line) {
  ForeignRule rule{.line = line, .when = when};
  const std::string told = its.name.empty() ? fmt::format("algorithm {}", its.id) : std::string{its.name};
  rule.told = fmt::format("{}, {}", of.name, told);
  if (!of.collective) {
    rule.remark = "Tutti has no rules for it";
    rule.is_exact = false;
    return rule;
  }
  rule.collective = *of.collective;
  rule.when.uneven = of.is_uneven;
  if (of.size == OpenMpiCollective::Size::whole) rule.when.bytes = its.bytes;
  if (of.size == OpenMpiCollective::Size::of_element && !its.bytes.is_open()) {
    rule.remark = "its size is that of an element times the ranks, which is no condition here";
    rule.is_exact = false;
    return rule;
  }
  if ((its.name.empty() && its.id == 0) || its.name == "ignore") {
    rule.remark = "Open MPI's own choice: the built-in rules choose";
    return rule;
  }
  const ForeignName* const name = name_of(of, its);
  choose_for(rule, name, told, its.numbers);
  rule.is_exact = name != nullptr;  // Open MPI leaves out rules whose algorithms it does not know
  return rule;
}

ForeignFile read_openmpi_rules(std::string_view text, std::string_view path) {
  return ClassicReader{text, path}.read();
}

}  // namespace tutti::tool
