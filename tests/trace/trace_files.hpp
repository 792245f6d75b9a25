#pragma once
// Traces for tests: a folder of their own, and files written and read.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "apps/tutti/trace_file.hpp"
#include "lib/watch/trace/writer.hpp"

namespace tutti::test {

/// Removed with all that is in it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tutti-trace-test.XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline trace::FileHeader header_of(int rank, int ranks, std::string_view host = "node1") {
  trace::FileHeader header;
  header.rank = rank;
  header.ranks = ranks;
  host.copy(header.host.data(), header.host.size() - 1);
  return header;
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

inline tool::TraceFile read(const std::string& path) {
  return tool::read_trace(path, bytes_of(path), tool::Salvage::no);
}

constexpr std::int64_t no_limit = std::int64_t{1} << 40;

}  // namespace tutti::test
