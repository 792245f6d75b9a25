#pragma once
// The records as JSON and CSV, and the files they go to.

#include <span>
#include <string>

#include "apps/bench/machine.hpp"
#include "apps/bench/records.hpp"
#include "apps/json.hpp"

namespace tutti::bench {

/// Parts of such files.
[[nodiscard]] apps::Json to_json(const Spread& spread);
[[nodiscard]] apps::Json to_json(const Machine& machine);
/// As a file has it. Names of files and hosts and the environment need not be UTF-8, but JSON has to be: other bytes
/// become U+FFFD.
[[nodiscard]] std::string to_text(const apps::Json& json);

/// {"environment": {...}, "results": [...], "summary": [...]}; null: not checked, not compared, or not applicable.
[[nodiscard]] apps::Json to_json(const Machine& machine, std::span<const Record> records);
/// The same as a file has it.
[[nodiscard]] std::string json_text(const Machine& machine, std::span<const Record> records);

/// A header line, then a line for each record. Empty fields: not checked, not compared.
[[nodiscard]] std::string to_csv(std::span<const Record> records);

/// A file that is whole or not there: it is written beside its place, once there is something to write, and renamed
/// when complete.
class OutputFile {
 public:
  /// Tries at once, so that a path which cannot be written is known before hours of measuring; pipes and devices stay
  /// open, of a file nothing is left.
  /// Throws apps::InputError.
  OutputFile(std::string option, std::string path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Throws Error if the text cannot be written.
  void commit(const std::string& text);

 private:
  std::string path_, written_;  ///< Where it belongs, and where it is written: the same for pipes and devices.
  std::FILE* file_;             ///< Null while there is nothing to write.
};

}  // namespace tutti::bench
