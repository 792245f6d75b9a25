#pragma once
// Settings that the user may choose.

#include <cstdint>
#include <string>
#include <vector>

#include "apps/options.hpp"

namespace tutti::sgd {

struct Settings {
  std::string data = {};  ///< Digits as CSV; empty: the ones that come with Tutti.
  std::string images = {}, labels = {}, test_images = {}, test_labels = {};
  double test_fraction = 0.2;

  std::vector<int> hidden = {64};  ///< Widths of the hidden layers.
  std::string precision = "double";
  int epochs = 30;
  int batch = 32;  ///< Images per step, over all ranks.
  double rate = 0.1;
  double momentum = 0.9;
  std::uint64_t seed = 1;

  bool device = false;          ///< Train on a GPU.
  std::string algorithm = {};   ///< The algorithm of the allreduce; empty: Tutti chooses.
  std::string json = {};        ///< A file, or "-" for stdout; empty: none.
  std::string checkpoint = {};  ///< A file; empty: none.
};

/// The command line that sets `settings`, which must outlive it.
[[nodiscard]] apps::Options command_line(Settings& settings);

/// Throws InputError if settings that are fine alone do not fit together.
void require_consistent(const Settings& settings);

}  // namespace tutti::sgd
