#pragma once

namespace tutti::tune {

/// The command `tutti tune`, whose name is argv[0]: calls MPI_Init and MPI_Finalize. Returns the exit code.
[[nodiscard]] int tune_main(int argc, char** argv);

}  // namespace tutti::tune
