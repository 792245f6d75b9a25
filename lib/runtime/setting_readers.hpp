#pragma once
// The settings in this process's environment that are more than a number or a name (lib/runtime/variables.hpp): one
// reader for each, for communicators and for the tool that shows settings. All throw ArgumentError that names the
// variable and what is allowed.

#include <string>
#include <vector>

#include "lib/runtime/settings.hpp"

namespace tutti {

/// TUTTI_ALGORITHM, which the choices name.
[[nodiscard]] UserChoices algorithms_in_environment();
/// TUTTI_FAULTS, whose faults can be made.
[[nodiscard]] std::string faults_in_environment();
/// TUTTI_NVTX, and whether this library can do it.
[[nodiscard]] RangeUse ranges_in_environment();
/// TUTTI_TRACE and TUTTI_TRACE_LIMIT. The folder counts as rank 0 sees it, as other ranks may have been started
/// elsewhere.
[[nodiscard]] TraceUse trace_in_environment();
/// TUTTI_TRANSPORT.
[[nodiscard]] TransportChoice transport_in_environment();

/// The names of the networks that are linked in.
[[nodiscard]] std::vector<std::string> linked_networks();

}  // namespace tutti
