#pragma once
// Algorithms in libraries of their own, which are loaded by name: TUTTI_ALGORITHMS=libmine.so (docs/plugins.md).

#include <cstddef>
#include <span>

#include "tutti/algorithm.hpp"
#include "tutti/version.h"

namespace tutti {

/// A library's word on itself.
struct AlgorithmLibrary {
  const char* version = TUTTI_VERSION;  ///< Of the headers that it was built with.
  /// Grows when the interface changes, but no size does. 2: Algorithm::bits.
  std::size_t interface = 2;
  /// The layout of the interface, as these headers have it.
  std::size_t algorithm_bytes = sizeof(Algorithm), problem_bytes = sizeof(Problem), step_bytes = sizeof(Step);
  std::span<const Algorithm* const> algorithms;
};

/// Loads libraries of algorithms, "libmine.so" or "libmine.so:libyours.so", which stay loaded: algorithms() has theirs
/// behind the registered ones from then on. A library that is loaded already is left out. Errors: ArgumentError if one
/// cannot be loaded, was built for another interface, or has an algorithm without a name or schedules, or of a name
/// that its collective has already.
TUTTI_API void load_algorithms(std::string_view libraries);

}  // namespace tutti

/// Once in a library: its algorithms, as TUTTI_ALGORITHM_LIBRARY(&torus, &other);
#define TUTTI_ALGORITHM_LIBRARY(...)                                                                     \
  extern "C" __attribute__((visibility("default"))) const ::tutti::AlgorithmLibrary* tutti_algorithms(); \
  const ::tutti::AlgorithmLibrary* tutti_algorithms() {                                                  \
    static constexpr const ::tutti::Algorithm* all[] = {__VA_ARGS__};                                    \
    static constexpr ::tutti::AlgorithmLibrary library{.algorithms = all};                               \
    return &library;                                                                                     \
  }                                                                                                      \
  static_assert(true)
