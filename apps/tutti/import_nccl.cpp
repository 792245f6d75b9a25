// The rules of NCCL's and NCCLX's tuners: CSV and JSON, of which the first that fits counts.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "apps/options.hpp"
#include "apps/tutti/import.hpp"
#include "apps/tutti/import_json.hpp"

namespace tutti::tool {
namespace {

constexpr std::int64_t largest = std::int64_t{1} << 50;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}
std::string in_small_letters(std::string_view text) {
  std::string small{text};
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

std::optional<Collective> collective_of(std::string_view name) {
  const std::string small = in_small_letters(name);
  if (small == "allreduce" || small == "all_reduce") return Collective::allreduce;
  if (small == "allgather" || small == "all_gather") return Collective::allgather;
  if (small == "reducescatter" || small == "reduce_scatter") return Collective::reduce_scatter;
  if (small == "broadcast") return Collective::broadcast;
  if (small == "reduce") return Collective::reduce;
  return std::nullopt;
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < -1 || value > largest) return std::nullopt;
  return value;
}

/// "*", "-1", "4", "[1,8]", "(1,8)", "[2,)": whole numbers; nothing if it is no interval.
std::optional<Range> interval_of(std::string_view text) {
  if (text == "*" || text == "-1" || text.empty()) return Range{};
  if (const auto number = number_of(text)) return Range{*number, *number};
  if (text.size() < 3 || std::string_view{"[("}.find(text.front()) == std::string_view::npos ||
      std::string_view{")]"}.find(text.back()) == std::string_view::npos)
    return std::nullopt;
  const std::string_view inside = text.substr(1, text.size() - 2);
  const std::size_t comma = inside.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const std::string_view first = trimmed(inside.substr(0, comma)), last = trimmed(inside.substr(comma + 1));
  const auto least = first.empty() ? std::optional<std::int64_t>{0} : number_of(first);
  const auto most = last.empty() ? std::optional<std::int64_t>{Range::no_end} : number_of(last);
  if (!least || !most || *least < 0 || *most < 0) return std::nullopt;
  const Range range{text.front() == '(' && !first.empty() ? *least + 1 : *least,
                    text.back() == ')' && !last.empty() ? *most - 1 : *most};
  return range.least <= range.most ? std::optional{range} : std::nullopt;
}

/// The texts of a rule, by the names of their columns or keys.
struct Texts {
  std::string collective{}, algorithm{}, bytes{}, bytes_per_rank{}, nodes{}, ranks{}, local_ranks{}, operations{},
      registered{};
};

/// Throws InputError without a place.
ForeignRule rule_of(const Texts& texts, int line) {
  ForeignRule rule{.line = line, .told = fmt::format("{}, {}", texts.collective, texts.algorithm)};
  const auto collective = collective_of(texts.collective);
  if (!collective) {
    rule.remark = "Tutti has no rules for it";
    rule.is_exact = false;
    return rule;
  }
  rule.collective = *collective;
  rule.when.memory = AssumedMemory::device;
  const auto read = [](Range& into, const std::string& text, std::string_view what) {
    const auto range = interval_of(text);
    if (!range) throw apps::InputError(fmt::format("'{}' is no range of {}", text.substr(0, 40), what));
    into = *range;
  };
  Range operations, registered;
  read(rule.when.bytes, texts.bytes, "bytes");
  read(rule.when.bytes_per_rank, texts.bytes_per_rank, "bytes per rank");
  read(rule.when.nodes, texts.nodes, "nodes");
  read(rule.when.ranks, texts.ranks, "ranks");
  read(rule.when.ppn, texts.local_ranks, "ranks of a node");
  read(operations, texts.operations, "operations");
  read(registered, texts.registered, "registered buffers");
  choose_for(rule, find_foreign(Library::nccl, *collective, in_small_letters(texts.algorithm)), texts.algorithm, {});
  if (!operations.contains(1)) {
    rule.choice.reset();
    rule.is_exact = false;
    rule.remark = "it is for several operations in a group, which Tutti has not";
  } else if (!registered.is_open() && registered != Range{0, 1}) {
    rule.choice.reset();
    rule.is_exact = false;
    rule.remark = "it is for buffers that are, or are not, registered, which is no condition here";
  }
  return rule;
}

std::string_view line_of(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  int depth = 0;  // an interval has a comma
  std::string field;
  for (const char c : line) {
    depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
    if (c != ',' || depth > 0) {
      if (c != '"') field += c;
      continue;
    }
    fields.emplace_back(trimmed(field));
    field.clear();
  }
  fields.emplace_back(trimmed(field));
  return fields;
}

/// collective, least and most bytes, algorithm, protocol, channels, nodes, ranks, operations, registered.
Texts texts_of(const std::vector<std::string>& fields) {
  if (fields.size() < 8 || fields.size() > 10)
    throw apps::InputError(
        fmt::format("{} fields; allowed: 8 to 10, as in "
                    "collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks",
                    fields.size()));
  const auto least = number_of(fields[1]), most = number_of(fields[2]);
  if (!least || !most)
    throw apps::InputError(fmt::format("'{},{}' are no sizes", fields[1].substr(0, 40), fields[2].substr(0, 40)));
  Texts texts{.collective = fields[0], .algorithm = fields[3], .nodes = fields[6], .ranks = fields[7]};
  texts.bytes = fmt::format("[{},{}]", std::max<std::int64_t>(0, *least), *most < 0 ? "" : fmt::to_string(*most));
  if (fields.size() > 8) texts.operations = fields[8];
  if (fields.size() > 9) texts.registered = fields[9];
  return texts;
}

void note_what_is_lost(ForeignFile& file) {
  file.notes.emplace_back(
      "protocols, channels and chunks are left out: Tutti has none; all rules are for device memory");
}

}  // namespace

ForeignFile read_nccl_rules(std::string_view text, std::string_view path) {
  ForeignFile file;
  for (int line = 1; !text.empty(); ++line) {
    const std::string_view content = trimmed(line_of(text));
    if (content.empty() || content.starts_with('#')) continue;
    const std::vector<std::string> fields = fields_of(content);
    if (in_small_letters(fields[0]).starts_with("collective")) continue;  // names of columns
    try {
      file.rules.push_back(rule_of(texts_of(fields), line));
    } catch (const apps::InputError& error) {
      throw apps::InputError(fmt::format("{}:{}: {}", path, line, error.what()));
    }
    if (file.rules.size() > most_foreign_rules)
      throw apps::InputError(fmt::format("{}:{}: more than {} rules", path, line, most_foreign_rules));
  }
  note_what_is_lost(file);
  return file;
}

ForeignFile read_ncclx_json_rules(std::string_view text, std::string_view path) {
  using Form = JsonValue::Form;
  const JsonFile json{text, path};
  ForeignFile file;
  for (const JsonValue& given : json.need(json.root(), "rules", Form::array).items) {
    const JsonValue &filter = json.need(given, "filter", Form::object),
                    &config = json.need(given, "config", Form::object);
    const auto text_of = [&](const JsonValue& object, std::string_view key) {
      const JsonValue* const found = json.find(object, key);
      if (found == nullptr) return std::string{};
      if (found->form == Form::integer) return fmt::to_string(found->integer);
      json.require(*found, Form::text, fmt::format("'{}'", key));
      return found->text;
    };
    const Texts texts{.collective = text_of(filter, "collective"),
                      .algorithm = text_of(config, "algorithm"),
                      .bytes = text_of(filter, "bytes"),
                      .bytes_per_rank = text_of(filter, "bytesPerRank"),
                      .nodes = text_of(filter, "nNodes"),
                      .ranks = text_of(filter, "nRanks"),
                      .local_ranks = text_of(filter, "nLocalRanks"),
                      .operations = text_of(filter, "numPipeOps"),
                      .registered = text_of(filter, "regBuff")};
    try {
      file.rules.push_back(rule_of(texts, given.place.line));
    } catch (const apps::InputError& error) {
      json.fail(given.place, error.what());
    }
    if (file.rules.size() > most_foreign_rules)
      json.fail(given.place, fmt::format("more than {} rules", most_foreign_rules));
  }
  note_what_is_lost(file);
  return file;
}

}  // namespace tutti::tool
