// The program of libFuzzer for the one target that is linked in.
#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  static const tutti::fuzz::Target& target = tutti::fuzz::targets().at(0);
  target.run({data, size});
  return 0;
}
