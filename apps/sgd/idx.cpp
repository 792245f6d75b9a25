#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "apps/files.hpp"
#include "apps/options.hpp"
#include "apps/sgd/data_set.hpp"

namespace tutti::sgd {

namespace {

// An IDX file: two zero bytes, the element type (8: unsigned byte), the number of dimensions; then each dimension and
// all elements. Numbers are 32 bits, the most significant byte first.
constexpr std::uint32_t images_magic = 0x00000803, labels_magic = 0x00000801;
constexpr std::uint32_t largest_side = 4096;

class IdxFile {
 public:
  explicit IdxFile(const NamedBytes& file) : name_(file.name), bytes_(file.bytes) {}

  void require_magic(std::uint32_t expected, std::string_view kind) {
    if (bytes_.starts_with("\x1f\x8b")) {
      fail(0, fmt::format("an IDX file of {}", kind), "a file compressed by gzip (uncompress it first)");
    }
    const std::uint32_t found = next(fmt::format("the magic number {:#010x} of {}", expected, kind));
    if (found != expected) {
      fail(0, fmt::format("the magic number {:#010x} of {}", expected, kind), fmt::format("{:#010x}", found));
    }
  }
  std::uint32_t next_size(std::string_view what, std::uint32_t most) {
    const std::size_t offset = offset_;
    const std::uint32_t value = next(what);
    if (value < 1 || value > most) fail(offset, fmt::format("{} from 1 to {}", what, most), fmt::format("{}", value));
    return value;
  }
  /// All that follows the header, which must be `size` bytes.
  std::vector<std::uint8_t> rest(std::uint64_t size) const {
    const std::size_t found = bytes_.size() - offset_;
    if (found != size) {
      fail(std::min<std::uint64_t>(bytes_.size(), offset_ + size), fmt::format("{} bytes after the header", size),
           fmt::format("{}", found));
    }
    return {bytes_.begin() + static_cast<std::ptrdiff_t>(offset_), bytes_.end()};
  }

 private:
  std::uint32_t next(std::string_view what) {
    if (bytes_.size() - offset_ < 4) fail(bytes_.size(), what, "the end of the file");
    std::uint32_t value = 0;
    for (int byte = 0; byte < 4; ++byte) {
      value = value << 8 | static_cast<std::uint8_t>(bytes_[offset_++]);
    }
    return value;
  }
  [[noreturn]] void fail(std::uint64_t offset, std::string_view expected, std::string_view found) const {
    throw apps::InputError(fmt::format("{}, byte {}: expected {}, found {}", name_, offset, expected, found));
  }
  const std::string& name_;
  std::string_view bytes_;
  std::size_t offset_ = 0;
};

}  // namespace

DataSet read_idx(const std::string& images, const std::string& labels) {
  const std::string image_bytes = apps::read_file(images), label_bytes = apps::read_file(labels);
  return parse_idx({images, image_bytes}, {labels, label_bytes});
}

DataSet parse_idx(NamedBytes images, NamedBytes labels) {
  constexpr std::uint32_t most_images = std::numeric_limits<int>::max();
  IdxFile image_file{images};
  image_file.require_magic(images_magic, "images");
  const std::uint32_t count = image_file.next_size("a number of images", most_images);
  const std::uint32_t rows = image_file.next_size("a number of rows", largest_side);
  const std::uint32_t columns = image_file.next_size("a number of columns", largest_side);
  IdxFile label_file{labels};
  label_file.require_magic(labels_magic, "labels");
  const std::uint32_t label_count = label_file.next_size("a number of labels", most_images);
  if (label_count != count) {
    throw apps::InputError(
        fmt::format("{} has {} labels, but {} has {} images", labels.name, label_count, images.name, count));
  }
  DataSet data{images.name, static_cast<int>(rows * columns), 0, 255, {}, {}};
  data.pixels = image_file.rest(std::uint64_t{count} * rows * columns);
  data.labels = label_file.rest(count);
  data.classes = 1 + *std::max_element(data.labels.begin(), data.labels.end());
  return data;
}

}  // namespace tutti::sgd
