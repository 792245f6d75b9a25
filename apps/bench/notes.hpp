#pragma once
// The lines around the tables: the calls measured, and how to read the figures. All start with '#'.

#include <span>
#include <string>

#include "apps/bench/machine.hpp"
#include "apps/bench/record.hpp"
#include "apps/bench/settings.hpp"

namespace tutti::bench {

/// Once, at the start.
[[nodiscard]] std::string preface(const Settings& settings, const Machine& machine);
/// Before the table of one collective.
[[nodiscard]] std::string heading(const Experiment& what, const Settings& settings);
/// After it.
[[nodiscard]] std::string notes(const Experiment& what, const Settings& settings, const Machine& machine,
                                std::span<const Record> records);

}  // namespace tutti::bench
