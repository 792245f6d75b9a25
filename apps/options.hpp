#pragma once
// Command lines of the apps: a small layer on Boost.Program_options, so that all apps read values, complain and help
// alike.

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/environment.hpp"
#include "tutti/types.hpp"

namespace tutti::apps {

/// Input that the program cannot use: the text says what was found and what is allowed. Apps end with exit_bad_input.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Numbers as users write them, whole texts only; anything else throws InputError, which names the text and the range.
[[nodiscard]] std::int64_t parse_integer(std::string_view text, std::int64_t least, std::int64_t most);
[[nodiscard]] double parse_number(std::string_view text, double least, double most);
/// "8", "64K", "1M", "2G": bytes with binary multiples (an optional B or iB after the letter, capital or not).
[[nodiscard]] Bytes parse_bytes(std::string_view text);
/// "a, b,c": the items without the blanks around them. An empty item throws; so does an empty text.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);

/// The options of one program, each bound to the variable that it sets. The variable's value is the default, shown by
/// --help. --help and --version are always there. A name may have a letter behind a comma, "ranks,p": --ranks or -p.
///
///     Settings settings;
///     Options options{"tutti-sgd", "Trains a small neural network."};
///     options.integer("epochs", settings.epochs, 1, 100'000, "passes over the training data");
///     if (const auto code = parse_or_report(options, argc, argv, rank == 0)) return *code;
class Options {
 public:
  Options(std::string program, std::string_view summary);
  Options(Options&&) noexcept;
  ~Options();

  Options& flag(const std::string& name, bool& value, const std::string& help);
  Options& text(const std::string& name, std::string& value, const std::string& argument, const std::string& help);
  template <std::integral T>
  Options& integer(const std::string& name, T& value, std::int64_t least, std::int64_t most, const std::string& help) {
    const auto set = [&value, least, most](std::string_view given) {
      value = static_cast<T>(parse_integer(given, least, most));
    };
    return custom(name, "N", std::to_string(value), help, set);
  }
  /// Any number from `least` to `most`.
  Options& number(const std::string& name, double& value, double least, double most, const std::string& help);
  /// One of the names in `choices`; `--help` lists them.
  Options& choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
                  const std::string& help);
  /// Some of the names in `choices`, separated by commas, or "all". An empty default means all.
  Options& names(const std::string& name, std::vector<std::string>& value, const std::vector<std::string>& choices,
                 const std::string& help);
  /// Numbers separated by commas.
  Options& integers(const std::string& name, std::vector<int>& value, int least, int most, const std::string& help);
  /// Anything else: `set` gets the text given and throws InputError if it is wrong. `shown` is the default in --help.
  Options& custom(const std::string& name, const std::string& argument, const std::string& shown,
                  const std::string& help, std::function<void(std::string_view)> set);
  /// An argument without a name, by its place among those declared. Optional ones come after required ones, and one
  /// that takes any number comes last.
  enum class Takes : std::uint8_t { one, one_or_none, any_number };
  Options& argument(const std::string& name, Takes takes, std::function<void(std::string_view)> set);
  /// The parts that --version lists for this build; if not called, only the version of Tutti.
  Options& made_of(std::vector<Component> (*components)());

  /// Sets the variables of the options given. Returns the text to print if help or version was asked for.
  /// Throws InputError, which names the option, if an option is unknown, misses its value, comes twice or is wrong.
  [[nodiscard]] std::optional<std::string> parse(const std::vector<std::string>& arguments);

  [[nodiscard]] const std::string& program() const { return program_; }

 private:
  struct Argument {
    std::string name;
    Takes takes;
    std::function<void(std::string_view)> set;
  };
  void set_arguments(const std::vector<std::string>& given) const;
  [[nodiscard]] std::string help_text() const;
  [[nodiscard]] std::string version_text() const;

  std::string program_, summary_;
  struct Description;  ///< Boost's.
  std::unique_ptr<Description> description_;
  std::map<std::string, std::function<void(std::string_view)>> setters_;
  std::vector<Argument> arguments_;
  bool has_letters_ = false;
  std::vector<Component> (*components_)() = nullptr;
};

/// Parses the command line. Returns the exit code if the program ends here: after help or version, or after an error.
/// Prints only if `speaks` (rank 0): help and version to stdout, an error in one line to stderr.
[[nodiscard]] std::optional<int> parse_or_report(Options& options, int argc, const char* const* argv, bool speaks);

}  // namespace tutti::apps
