#include "apps/sgd/data_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>

#include "apps/files.hpp"
#include "apps/options.hpp"
#include "apps/sgd/random.hpp"

namespace tutti::sgd {

namespace {

// ---- CSV

constexpr int digit_features = 64, digit_height = 8, digit_classes = 10, digit_white = 16;

/// The next part of `text` up to `separator`, which is taken off it; nothing at the end.
std::optional<std::string_view> next_part(std::optional<std::string_view>& text, char separator) {
  if (!text) return std::nullopt;
  const auto end = text->find(separator);
  const auto part = text->substr(0, end);
  if (end == std::string_view::npos) {
    text.reset();
  } else {
    text->remove_prefix(end + 1);
  }
  return part;
}

/// One line of the file, with its number for messages.
class Row {
 public:
  Row(const std::string& file, int number, std::string_view text) : file_(file), number_(number), text_(text) {}

  /// A value from 0 to `most`; `what` describes it.
  std::uint8_t next(int column, int most, std::string_view what) {
    const auto field = next_part(text_, ',');
    if (!field) fail(fmt::format("{} values", digit_features + 1), fmt::format("{}", column - 1));
    int value = 0;
    const char* const end = field->data() + field->size();
    const auto [stop, status] = std::from_chars(field->data(), end, value);
    if (status != std::errc{} || stop != end || value < 0 || value > most) {
      fail(fmt::format("{} from 0 to {} in column {}", what, most, column), fmt::format("'{}'", field->substr(0, 40)));
    }
    return static_cast<std::uint8_t>(value);
  }
  void require_end() {
    if (text_) fail(fmt::format("{} values", digit_features + 1), "more");
  }

 private:
  [[noreturn]] void fail(std::string_view expected, std::string_view found) const {
    throw apps::InputError(fmt::format("{}, line {}: expected {} (a line is 64 pixels and a label), found {}", file_,
                                       number_, expected, found));
  }
  const std::string& file_;
  int number_;
  std::optional<std::string_view> text_;
};

// ---- IDX

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

DataSet subset(const DataSet& all, std::span<const int> images) {
  DataSet part{all.name, all.features, all.height, all.classes, all.white, {}, {}};
  for (const int image : images) {
    const auto first = all.pixels.begin() + static_cast<std::ptrdiff_t>(image) * all.features;
    part.pixels.insert(part.pixels.end(), first, first + all.features);
    part.labels.push_back(all.labels[static_cast<std::size_t>(image)]);
  }
  return part;
}

}  // namespace

DataSet read_csv(const std::string& path) { return parse_csv(path, apps::read_file(path)); }

DataSet parse_csv(const std::string& name, std::string_view bytes) {
  DataSet data{name, digit_features, digit_height, digit_classes, digit_white, {}, {}};
  if (bytes.ends_with('\n')) bytes.remove_suffix(1);
  if (bytes.empty()) throw apps::InputError(fmt::format("{}: the file is empty", name));
  std::optional<std::string_view> lines{bytes};
  for (int number = 1; auto line = next_part(lines, '\n'); ++number) {
    if (line->ends_with('\r')) line->remove_suffix(1);
    Row row{name, number, *line};
    for (int column = 1; column <= digit_features; ++column) {
      data.pixels.push_back(row.next(column, digit_white, "a pixel"));
    }
    data.labels.push_back(row.next(digit_features + 1, digit_classes - 1, "a label"));
    row.require_end();
  }
  return data;
}

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
  DataSet data{images.name, static_cast<int>(rows * columns), static_cast<int>(rows), 0, 255, {}, {}};
  data.pixels = image_file.rest(std::uint64_t{count} * rows * columns);
  data.labels = label_file.rest(count);
  data.classes = 1 + *std::max_element(data.labels.begin(), data.labels.end());
  return data;
}

DataSet made_up(int images, std::uint64_t seed) {
  constexpr int side = 28, points = side * side, classes = 10, white = 255, most_move = 2;
  DataSet data{"made-up images", points, side, classes, white, {}, {}};
  const auto place = [](int label, int y, int x) {
    const std::int64_t in_patterns = std::int64_t{label} * points + std::int64_t{y} * side + x;
    return static_cast<std::size_t>(in_patterns);
  };
  Random random{seed, Random::Purpose::made_up};
  // A pattern is made of rectangles.
  std::vector<std::uint8_t> patterns(static_cast<std::size_t>(classes) * points);
  for (int rectangle = 0; rectangle < 4 * classes; ++rectangle) {
    const auto first = [&] { return static_cast<int>(random.below(side - 8)); };
    const int top = first(), left = first(), height = 2 + static_cast<int>(random.below(8));
    for (int y = top; y < top + height && y < side; ++y)
      for (int x = left; x < left + 8; ++x)
        patterns[place(rectangle % classes, y, x)] = 160;
  }
  data.pixels.reserve(static_cast<std::size_t>(images) * points);
  for (int image = 0; image < images; ++image) {
    const int label = static_cast<int>(random.below(classes));
    const auto move = [&] { return static_cast<int>(random.below(2 * most_move + 1)) - most_move; };
    const int down = move(), right = move();
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const int from_y = std::clamp(y - down, 0, side - 1), from_x = std::clamp(x - right, 0, side - 1);
        const int pattern = patterns[place(label, from_y, from_x)];
        data.pixels.push_back(static_cast<std::uint8_t>(pattern + static_cast<int>(random.below(96))));
      }
    data.labels.push_back(static_cast<std::uint8_t>(label));
  }
  return data;
}

Split split(const DataSet& all, double test_fraction, std::uint64_t seed) {
  const int test = std::max(1, static_cast<int>(std::lround(test_fraction * all.size())));
  if (test >= all.size()) {
    throw apps::InputError(fmt::format("{}: none of {} images is left to train with when {} are set aside for testing",
                                       all.name, all.size(), test));
  }
  std::vector<int> images(static_cast<std::size_t>(all.size()));
  std::iota(images.begin(), images.end(), 0);
  Random{seed, Random::Purpose::split}.shuffle(std::span{images});
  const std::span<const int> shuffled{images};
  const auto held_out = static_cast<std::size_t>(test);
  return {subset(all, shuffled.subspan(held_out)), subset(all, shuffled.first(held_out))};
}

std::uint32_t fingerprint(const Split& data) {
  boost::crc_32_type crc;
  for (const DataSet* part : {&data.train, &data.test}) {
    crc.process_bytes(part->pixels.data(), part->pixels.size());
    crc.process_bytes(part->labels.data(), part->labels.size());
  }
  return crc.checksum();
}

}  // namespace tutti::sgd
