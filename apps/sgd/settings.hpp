#pragma once
// Settings that the user may choose.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "apps/sgd/elementary.hpp"
#include "tutti/compression.hpp"

namespace tutti::sgd {

struct Settings {
  std::string data = {};  ///< Digits as CSV; empty: the ones that come with Tutti.
  std::string images = {}, labels = {}, test_images = {}, test_labels = {};
  int synthetic = 0;  ///< Images that are made up; 0: none.
  double test_fraction = 0.2;

  std::string model = "mlp";
  std::vector<int> hidden = {64};        ///< Widths of the hidden layers.
  std::vector<int> channels = {16, 32};  ///< Of the convolutions of "cnn".
  std::string precision = "fp64";
  int epochs = 30;
  int batch = 32;      ///< Images of a batch, over all ranks.
  int accumulate = 1;  ///< Batches of a step.
  std::string optimizer = "sgd";
  double rate = 0.1;
  double momentum = 0.9;
  std::string schedule = "constant";
  int warm_up = 0;  ///< Steps in which the rate grows.
  double clip = 0;  ///< The longest gradient; 0: any.
  std::uint64_t seed = 1;

  std::size_t bucket = 0;     ///< Bytes of the gradient that are summed at once; 0: all.
  bool overlap = false;       ///< Buckets are summed while others are computed.
  int zero = 0;               ///< 1: each rank has a part of the optimizer's state.
  std::string compress = {};  ///< How gradients are compressed on their way; empty: they are not.
  double keep = 0.01;         ///< The share of the elements that top_k keeps.

  bool device = false;                    ///< Train on a GPU.
  std::string products = "auto";          ///< What multiplies matrices.
  std::string algorithm = {};             ///< The algorithm of the allreduce; empty: Tutti chooses.
  std::string json = {};                  ///< A file, or "-" for stdout; empty: none.
  std::string report = {};                ///< A file of HTML; empty: none.
  std::vector<std::string> compare = {};  ///< Reports as JSON of other runs, for the page.
  std::string checkpoint = {};            ///< A file; empty: none.
  bool study = false;                     ///< Compares the ways to share the work.

  /// The numbers of 16 bits that weights and gradients are rounded to.
  [[nodiscard]] std::optional<Format16> format() const {
    if (precision == "bf16") return Format16::bf16;
    return precision == "fp16" ? std::optional{Format16::fp16} : std::nullopt;
  }
  [[nodiscard]] std::optional<Compression> compression() const {
    for (std::size_t i = 0; i < compression_names.size(); ++i) {
      if (compress == compression_names[i]) return static_cast<Compression>(i);
    }
    return std::nullopt;
  }
  /// Whether a step's time can be told apart: on a device whose communication overlaps, nobody waits to know it.
  [[nodiscard]] bool has_times() const { return !(device && overlap); }
  [[nodiscard]] bool is_double() const { return precision == "fp64"; }
};

/// The command line that sets `settings`, which must outlive it.
[[nodiscard]] apps::Options command_line(Settings& settings);

/// Throws InputError if settings that are fine alone do not fit together.
void require_consistent(const Settings& settings);

}  // namespace tutti::sgd
