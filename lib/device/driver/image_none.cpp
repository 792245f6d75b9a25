#include "lib/device/driver/image.hpp"

namespace tutti::cuda {

const void* image() { return nullptr; }  // built without nvcc

}  // namespace tutti::cuda
