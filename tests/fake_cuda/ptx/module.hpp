#pragma once
// Kernels as PTX text: parsed once, run by machine.hpp.

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace fake_cuda::ptx {

/// Text that cannot be read, or an instruction that the interpreter does not have.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Parameter {
  std::size_t offset, bytes;
};

struct Code;

struct Kernel {
  std::string name{};
  std::string error{};  ///< Why it cannot run; empty: it can.
  std::vector<Parameter> parameters{};
  std::size_t parameter_bytes = 0, shared_bytes = 0, local_bytes = 0;
  int registers = 0;
  std::shared_ptr<const Code> code{};
};

struct Module {
  std::vector<Kernel> kernels;
};

/// Loads PTX text, or a fatbin that has uncompressed PTX. Throws Error.
std::shared_ptr<Module> load(const void* image);

}  // namespace fake_cuda::ptx
