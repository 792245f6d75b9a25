#include "lib/reduce/copy.hpp"

#include <cstring>

#include "lib/reduce/kernels.hpp"

namespace tutti {
namespace {

// The C library's memcpy is at its best up to the size of a near cache: above, it leaves `rep movsb`, which does not
// fetch the lines that it overwrites, for loops that do. Pieces keep it there.
constexpr std::size_t whole = std::size_t{512} << 10;
constexpr std::size_t piece = std::size_t{256} << 10;

}  // namespace

void copy_bytes(void* into, const void* from, std::size_t bytes) {
  auto* to = static_cast<std::byte*>(into);
  const auto* source = static_cast<const std::byte*>(from);
  while (bytes > whole) {
    std::memcpy(to, source, piece);
    to += piece;
    source += piece;
    bytes -= piece;
  }
  if (bytes != 0) std::memcpy(to, source, bytes);
}

void copy_bytes_streaming(void* into, const void* from, std::size_t bytes) {
  if (bytes != 0) copy_streaming_kernel()(into, from, bytes);
}

}  // namespace tutti
