#include "apps/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/value_semantic.hpp>
#include <boost/program_options/variables_map.hpp>
#include <charconv>
#include <cstdio>
#include <limits>
#include <sstream>

#include "apps/standard_output.hpp"
#include "lib/core/schedule/near_names.hpp"
#include "tutti/version.hpp"

namespace tutti::apps {

namespace po = boost::program_options;

namespace {

constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// The whole text as a number, or nothing.
template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc{} || stop != end) return std::nullopt;
  return value;
}

/// How far the unit shifts a number of bytes: "K" or "KiB" 10, "" 0; nothing if it is no unit.
std::optional<int> binary_shift(std::string unit) {
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
  if (unit.empty() || unit == "B") return 0;
  const auto power = std::string_view{"KMGT"}.find(unit.front());
  if (power == std::string_view::npos) return std::nullopt;
  const std::string rest = unit.substr(1);
  if (!rest.empty() && rest != "B" && rest != "IB") return std::nullopt;
  return 10 * (static_cast<int>(power) + 1);
}

/// "ranks" of "ranks,p".
std::string long_name(const std::string& name) { return name.substr(0, name.find(',')); }

[[noreturn]] void refuse_unknown(const po::unknown_option& error, const po::options_description& description) {
  std::vector<std::string> names;
  for (const auto& option : description.options())
    names.push_back("--" + option->long_name());
  throw InputError(error.what() + suggestion(error.get_option_name(), names));
}

/// The command line as options and their texts. Throws InputError.
po::parsed_options read(const std::vector<std::string>& arguments, const po::options_description& description,
                        bool has_letters) {
  // Long options only, no abbreviations: an abbreviation would change its meaning when an option is added, and
  // without short options "--rate -1" complains about -1, not about an option of that name.
  constexpr int long_style = po::command_line_style::allow_long | po::command_line_style::long_allow_adjacent |
                             po::command_line_style::long_allow_next;
  constexpr int short_style = po::command_line_style::allow_short | po::command_line_style::allow_dash_for_short |
                              po::command_line_style::short_allow_next | po::command_line_style::short_allow_adjacent;
  try {
    const int style = long_style | (has_letters ? short_style : 0);
    return po::command_line_parser(arguments).options(description).style(style).run();
  } catch (const po::unknown_option& error) {
    refuse_unknown(error, description);
  } catch (const po::error& error) {
    throw InputError(error.what());
  }
}

/// The values given for the options. Throws InputError if one comes twice.
po::variables_map options_in(const po::parsed_options& parsed) {
  try {
    po::variables_map given;
    po::store(parsed, given);
    return given;
  } catch (const po::error& error) {
    throw InputError(error.what());
  }
}

}  // namespace

std::int64_t parse_integer(std::string_view text, std::int64_t least, std::int64_t most) {
  const auto value = number_in<std::int64_t>(text);
  if (!value || *value < least || *value > most) {
    throw InputError(fmt::format("'{}' is not an integer from {} to {}", text, least, most));
  }
  return *value;
}

double parse_number(std::string_view text, double least, double most) {
  const auto value = number_in<double>(text);
  if (!value || !(*value >= least && *value <= most)) {  // Negated, so that NaN is refused.
    throw InputError(fmt::format("'{}' is not a number from {} to {}", text, least, most));
  }
  return *value;
}

Bytes parse_bytes(std::string_view text) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto value = number_in<std::int64_t>(text.substr(0, digits));
  const auto shift = binary_shift(std::string{text.substr(digits)});
  if (!value || !shift || *value > std::numeric_limits<std::int64_t>::max() >> *shift) {
    throw InputError(fmt::format("'{}' is not a size: bytes, or with K, M, G or T, as in 8, 64K, 1M, 2G", text));
  }
  return Bytes{*value << *shift};
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    items.emplace_back(trimmed(text.substr(begin, end - begin)));
    if (items.back().empty()) throw InputError(fmt::format("'{}' has an empty item: write a list as in 1,2,3", text));
    begin = end + 1;
  }
  return items;
}

struct Options::Description {
  po::options_description its{"Options", 110, 60};
};

Options::Options(std::string program, std::string_view summary)
    : program_(std::move(program)), summary_(summary), description_(std::make_unique<Description>()) {
  description_->its.add_options()("help", "show this text")("version",
                                                            "show the version and what this build is made of");
}

Options::Options(Options&&) noexcept = default;
Options::~Options() = default;

Options& Options::flag(const std::string& name, bool& value, const std::string& help) {
  description_->its.add_options()(name.c_str(), help.c_str());
  setters_[long_name(name)] = [&value](std::string_view) { value = true; };
  return *this;
}

Options& Options::custom(const std::string& name, const std::string& argument, const std::string& shown,
                         const std::string& help, std::function<void(std::string_view)> set) {
  const std::string text = shown.empty() ? help : fmt::format("{} [{}]", help, shown);
  description_->its.add_options()(name.c_str(), po::value<std::string>()->value_name(argument), text.c_str());
  setters_[long_name(name)] = std::move(set);
  has_letters_ = has_letters_ || name.find(',') != std::string::npos;
  return *this;
}

Options& Options::text(const std::string& name, std::string& value, const std::string& argument,
                       const std::string& help) {
  return custom(name, argument, value, help, [&value](std::string_view given) { value = given; });
}

Options& Options::number(const std::string& name, double& value, double least, double most, const std::string& help) {
  return custom(name, "X", fmt::format("{}", value), help,
                [&value, least, most](std::string_view given) { value = parse_number(given, least, most); });
}

Options& Options::choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
                         const std::string& help) {
  const std::string names = fmt::format("{}", fmt::join(choices, ", "));
  return custom(name, "NAME", value, help + ": " + names, [&value, choices, names](std::string_view given) {
    if (std::find(choices.begin(), choices.end(), given) == choices.end()) {
      throw InputError(fmt::format("'{}' is none of: {}{}", given, names, suggestion(given, choices)));
    }
    value = given;
  });
}

Options& Options::names(const std::string& name, std::vector<std::string>& value,
                        const std::vector<std::string>& choices, const std::string& help) {
  const std::string shown = value.empty() ? "all" : fmt::format("{}", fmt::join(value, ","));
  return custom(name, "LIST", shown, fmt::format("{}, or all: {}", help, fmt::join(choices, ", ")),
                [&value, choices](std::string_view given) {
                  std::vector<std::string> read = given == "all" ? choices : split_list(given);
                  for (const std::string& item : read) {
                    if (std::find(choices.begin(), choices.end(), item) != choices.end()) continue;
                    throw InputError(fmt::format("'{}' is none of: all, {}{}", item, fmt::join(choices, ", "),
                                                 suggestion(item, choices)));
                  }
                  value = std::move(read);
                });
}

Options& Options::integers(const std::string& name, std::vector<int>& value, int least, int most,
                           const std::string& help) {
  return custom(name, "N,N,...", fmt::format("{}", fmt::join(value, ",")), help,
                [&value, least, most](std::string_view given) {
                  std::vector<int> read;
                  for (const auto& item : split_list(given)) {
                    read.push_back(static_cast<int>(parse_integer(item, least, most)));
                  }
                  value = std::move(read);
                });
}

Options& Options::argument(const std::string& name, Takes takes, std::function<void(std::string_view)> set) {
  arguments_.push_back({name, takes, std::move(set)});
  return *this;
}

Options& Options::made_of(std::vector<Component> (*components)()) {
  components_ = components;
  return *this;
}

std::optional<std::string> Options::parse(const std::vector<std::string>& arguments) {
  const po::parsed_options parsed = read(arguments, description_->its, has_letters_);
  const po::variables_map given = options_in(parsed);
  if (given.count("help") != 0) return help_text();
  if (given.count("version") != 0) return version_text();
  std::vector<std::string> unnamed;
  for (const auto& option : parsed.options)
    if (option.position_key >= 0) unnamed.insert(unnamed.end(), option.value.begin(), option.value.end());
  set_arguments(unnamed);
  for (const auto& [name, value] : given) {
    try {
      setters_.at(name)(value.empty() ? std::string{} : value.as<std::string>());
    } catch (const InputError& error) {
      throw InputError(fmt::format("--{}: {}", name, error.what()));
    }
  }
  return std::nullopt;
}

void Options::set_arguments(const std::vector<std::string>& given) const {
  std::size_t next = 0;
  for (const auto& [name, takes, set] : arguments_) {
    if (next == given.size() && takes == Takes::one) throw InputError(fmt::format("{} is missing", name));
    while (next < given.size()) {
      set(given[next++]);
      if (takes != Takes::any_number) break;
    }
  }
  if (next == given.size()) return;
  const std::string_view why = arguments_.empty() ? "options start with --" : "there are too many";
  throw InputError(fmt::format("unexpected argument '{}': {}", given[next], why));
}

std::string Options::help_text() const {
  std::ostringstream text;
  text << summary_ << "\n\nUsage: " << program_;
  for (const auto& [name, takes, set] : arguments_) {
    const std::string shown = takes == Takes::any_number ? name + "..." : name;
    text << ' ' << (takes == Takes::one ? shown : fmt::format("[{}]", shown));
  }
  text << " [options]\n\n" << description_->its;
  return text.str();
}

std::string Options::version_text() const {
  std::string text = fmt::format("{} (Tutti {})\n", program_, TUTTI_VERSION);
  if (components_ == nullptr) return text;
  for (const auto& [name, description] : components_())
    text += fmt::format("{:<8} {}\n", name, description);
  return text;
}

std::optional<int> parse_or_report(Options& options, int argc, const char* const* argv, bool speaks) {
  try {
    const auto text = options.parse({argv + 1, argv + argc});
    if (!text) return std::nullopt;
    if (speaks) print(*text);
    return exit_success;
  } catch (const InputError& error) {
    if (speaks) apps::print_error("{}: {} (see --help)\n", options.program(), error.what());
    return exit_bad_input;
  }
}

}  // namespace tutti::apps
