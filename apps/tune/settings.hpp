#pragma once
// The command line of tutti tune.

#include <string>
#include <vector>

#include "apps/options.hpp"

namespace tutti::tune {

struct Settings {
  std::string write;                                                                         ///< The file of rules.
  double budget = 10;                                                                        ///< Minutes.
  std::vector<std::string> collectives, memories{"host"}, modes{"blocking"}, communicators;  ///< Empty: all.
  Bytes min{8}, max{8 << 20};
  bool resumes = false;        ///< Goes on with what an interrupted run has measured.
  bool adds = false;           ///< Keeps the rules of the file that are for other communicators.
  bool is_exact = false;       ///< The rules hold for these numbers of ranks and nodes alone.
  bool has_transport = false;  ///< Constants of transports are measured, too.
  bool has_rules = true;       ///< Algorithms are measured.
};

/// The collectives that are measured: those named, else all.
[[nodiscard]] std::vector<std::string> measured_collectives(const Settings& settings);
[[nodiscard]] apps::Options options_for(Settings& settings);
/// Throws InputError if the settings do not fit each other.
void require_consistent(const Settings& settings);

}  // namespace tutti::tune
