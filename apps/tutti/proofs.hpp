#pragma once
// Proofs of many problems on many threads, and of the proof: mutants.

#include <functional>
#include <string>
#include <vector>

#include "lib/proof/checker/suite.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::tool {

/// The results of the proofs of an algorithm.
struct Tally {
  const Algorithm* algorithm = nullptr;
  std::size_t problems = 0, schedules = 0, steps = 0;
  std::size_t mutants = 0, caught = 0, equivalent = 0;
  double seconds = 0;  ///< The time of all threads together.
  std::size_t faulty = 0;
  std::vector<std::string> faults{};  ///< The first few.
};

struct Campaign {
  std::vector<const Algorithm*> algorithms;
  checker::Extent extent = checker::Extent::all;
  int threads = 1;
  std::function<void(const Tally& tally)> done;  ///< Called for each algorithm, in their order.
  /// Called now and then, if wanted.
  std::function<void(const Algorithm& algorithm, std::size_t finished, std::size_t all)> progress{};
};

/// Proves every case of every algorithm, and refutes its mutants at 5 and 8 ranks (subset: 5). The functions of the
/// campaign are called by one thread at a time.
void prove_all(const Campaign& campaign);

}  // namespace tutti::tool
