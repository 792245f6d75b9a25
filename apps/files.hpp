#pragma once
// Whole files, read and written in one go.

#include <cstddef>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace tutti::apps {

/// The file's bytes. Throws InputError if the file does not exist, cannot be read, or has more than `most` bytes.
[[nodiscard]] std::string read_file(const std::string& path,
                                    std::size_t most = std::numeric_limits<std::size_t>::max());

/// Throws InputError unless a file of that name can be made or replaced: finds out before hours of training do.
void require_writable(const std::string& path);

/// Replaces the file: writes a temporary one beside it (PATH.XXXXXX), has it reach the disk, and renames it. Whenever
/// this is interrupted, `path` holds either all of the old bytes or all of the new. Throws std::runtime_error.
void replace_file(const std::string& path, std::string_view bytes);

/// Replaces a file by bytes that do not fit into memory: `write` calls the function that it is given for each piece.
using Append = std::function<void(std::string_view piece)>;
void replace_file(const std::string& path, const std::function<void(const Append& append)>& write);

/// A file for results that take long to come: one that cannot be written is refused before. Devices and pipes are
/// opened at once, other files replaced when there is something to write, so that an interrupted program leaves
/// nothing.
class OutputFile {
 public:
  /// Throws InputError, which names the option.
  OutputFile(const std::string& option, std::string path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Once. Throws std::runtime_error if the text cannot be written.
  void commit(std::string_view text);

 private:
  std::string path_;
  std::FILE* stream_ = nullptr;  ///< Of a device or a pipe.
};

}  // namespace tutti::apps
