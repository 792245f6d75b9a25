// The PTX text of an image: the text itself, or that of a fatbin.
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "tests/fake_cuda/ptx/module.hpp"
#include "tests/fake_cuda/ptx/parser.hpp"

namespace fake_cuda::ptx {
namespace {

constexpr std::uint32_t fatbin_magic = 0xba55ed50, wrapper_magic = 0x466243b1;
constexpr std::uint16_t kind_of_ptx = 1;

template <class Value>
Value read(const std::byte* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// An entry: kind, version, size of its header, size of its content.
struct Entry {
  explicit Entry(const std::byte* at)
      : kind(read<std::uint16_t>(at)), header(read<std::uint32_t>(at + 4)), content(read<std::uint64_t>(at + 8)) {}
  std::uint16_t kind;
  std::uint32_t header;
  std::uint64_t content;
};

std::string text_of_fatbin(const std::byte* image) {
  const auto header = read<std::uint16_t>(image + 6);
  const auto content = read<std::uint64_t>(image + 8);
  bool is_compressed = false;
  for (std::uint64_t at = header; at < header + content;) {
    const Entry entry{image + at};
    if (entry.kind == kind_of_ptx) {
      std::string text(reinterpret_cast<const char*>(image + at + entry.header), entry.content);
      text.resize(std::strlen(text.c_str()));
      if (text.find(".version") != std::string::npos) return text;
      is_compressed = true;
    }
    at += entry.header + entry.content;
  }
  throw Error(is_compressed ? "the fatbin's PTX is compressed: nvcc --no-compress leaves it as it is"
                            : "the fatbin has no PTX: nvcc -gencode arch=compute_80,code=compute_80 adds it");
}

std::string text_of(const void* image) {
  const auto* bytes = static_cast<const std::byte*>(image);
  if (read<std::uint32_t>(bytes) == wrapper_magic) bytes = read<const std::byte*>(bytes + 8);
  if (read<std::uint32_t>(bytes) == fatbin_magic) return text_of_fatbin(bytes);
  const auto* const text = reinterpret_cast<const char*>(bytes);
  if (std::strstr(text, ".version") == nullptr) throw Error("the image is neither PTX text nor a fatbin");
  return text;
}

}  // namespace

std::shared_ptr<Module> load(const void* image) {
  try {
    return std::make_shared<Module>(parsed(text_of(image)));
  } catch (const std::logic_error& error) {  // of std::stoul and its like
    throw Error(std::string("a number in the PTX cannot be read: ") + error.what());
  }
}

}  // namespace fake_cuda::ptx
