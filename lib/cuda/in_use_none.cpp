#include "lib/cuda/in_use.hpp"

namespace tutti::cuda {

bool has_context() { return false; }
std::string why_unusable() { return "the library was built without CUDA"; }

}  // namespace tutti::cuda
