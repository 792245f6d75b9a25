#pragma once
// Traces for tests: files written and read.

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "apps/tutti/trace_file.hpp"
#include "lib/watch/trace/writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tutti::test {

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
