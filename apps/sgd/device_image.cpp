#include "apps/sgd/gpu.hpp"

#include TUTTI_CUDA_IMAGE_SUM

// TUTTI_CUDA_IMAGE: the file that nvcc made of device_kernels.cu; the other file has its checksum.
asm(R"(.section .rodata
.balign 16
.hidden tutti_sgd_image
.global tutti_sgd_image
tutti_sgd_image:
.incbin ")" TUTTI_CUDA_IMAGE R"("
.previous
)");

extern "C" const unsigned char tutti_sgd_image[];

namespace tutti::sgd {

const void* device_image() { return tutti_sgd_image; }

}  // namespace tutti::sgd
