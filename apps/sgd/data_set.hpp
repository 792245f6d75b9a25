#pragma once
// Labelled images, and the files that they come from.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::sgd {

/// Images of equal size, each with its class. Pixels are kept as they came, 0 to `white`, one byte each.
struct DataSet {
  std::string name;
  int features = 0;  ///< Pixels of an image.
  int height = 0;    ///< Of an image.
  int classes = 0;   ///< Labels are 0 to classes - 1.
  int white = 1;     ///< The largest pixel value.
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;

  [[nodiscard]] int size() const { return static_cast<int>(labels.size()); }

  /// The factor that turns a pixel into a value from 0 to 1.
  template <class T>
  [[nodiscard]] T scale() const {
    return T{1} / static_cast<T>(white);
  }
};

/// Reads the format of UCI's handwritten digits: a line per image, 64 pixels (0 to 16) and a label (0 to 9), separated
/// by commas. Throws InputError, which names the line and the expected contents.
[[nodiscard]] DataSet read_csv(const std::string& path);
/// Reads the contents of a CSV file; `name` is the file's name in messages.
[[nodiscard]] DataSet parse_csv(const std::string& name, std::string_view bytes);

/// Reads the format of MNIST (IDX): a file of images with unsigned bytes as pixels and a file of their labels.
/// Throws InputError, which names the byte offset and the expected contents.
[[nodiscard]] DataSet read_idx(const std::string& images, const std::string& labels);
/// The contents of a file, and its name for messages.
struct NamedBytes {
  const std::string& name;
  std::string_view bytes;
};
[[nodiscard]] DataSet parse_idx(NamedBytes images, NamedBytes labels);

/// So many images of 28 x 28 points in 10 classes: each is the pattern of its class, moved by up to two points, with
/// noise. They follow from the seed alone.
[[nodiscard]] DataSet made_up(int images, std::uint64_t seed);

/// The images that a model learns from, and those that show how well it learnt.
struct Split {
  DataSet train, test;
};

/// Sets a random part of the images aside for testing, at least one. Throws InputError if none is left to train with.
[[nodiscard]] Split split(const DataSet& all, double test_fraction, std::uint64_t seed);

/// A number that tells data sets apart (CRC-32 of all pixels and labels).
[[nodiscard]] std::uint32_t fingerprint(const Split& data);

}  // namespace tutti::sgd
