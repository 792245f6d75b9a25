#include "lib/cuda/state.hpp"

namespace tutti::cuda {

std::string state() { return {}; }  // built without CUDA

}  // namespace tutti::cuda
