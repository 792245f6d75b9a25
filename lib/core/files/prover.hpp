#pragma once
// The proof of schedules while a program runs. It is in a library of its own, libtutti_proof, which is loaded when
// somebody asks for a proof: programs that do not, do without.

#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/algorithm.hpp"

namespace tutti {

/// The ranks whose input shares memory with the output, as in the MPI calls.
enum class InPlace : std::uint8_t { nobodys, everybodys, that_of_even_ranks };

struct Proof {
  std::string problem{};      ///< "4 ranks, 1000 elements, in place": the one that has the fault.
  std::string fault{};        ///< As "rank 3, step 7 (recv scratch[0..4) from 2): ..."; empty: there is none.
  bool is_too_large = false;  ///< Nothing was proved, as there are too many elements or steps.
  Cost cost{};                ///< The cost of the busiest rank, as counted.
};

/// The passes that schedules go through before they are proved (lib/core/schedule/passes.hpp).
struct ProvedPasses {
  Count segment{};  ///< As in built(); 0: none.
  bool is_fused = false;
};

/// The functions of libtutti_proof. They throw nothing.
struct Prover {
  std::string_view version;  ///< TUTTI_VERSION.
  /// Proves the schedules of all ranks. `problem`: as any rank has it, but for its aliasing, for which `in_place`
  /// stands. Blocks of differing sizes, which all ranks have to know, are proved without gaps between them. Elements
  /// that all steps treat alike are proved as one, so that long data take no more memory than short ones.
  Proof (*prove)(const Algorithm& algorithm, const Problem& problem, InPlace in_place, const ProvedPasses& passes);
};

/// Loads the library, once. Throws Error, which says where it was looked for, if it cannot be had.
[[nodiscard]] const Prover& prover();

}  // namespace tutti
