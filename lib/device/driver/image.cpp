#include "lib/device/driver/image.hpp"

#include TUTTI_CUDA_IMAGE_SUM

// TUTTI_CUDA_IMAGE: the file that nvcc made of kernels.cu; the other file has its checksum.
asm(R"(.section .rodata
.balign 16
.hidden tutti_cuda_image
.global tutti_cuda_image
tutti_cuda_image:
.incbin ")" TUTTI_CUDA_IMAGE R"("
.previous
)");

extern "C" const unsigned char tutti_cuda_image[];

namespace tutti::cuda {

const void* image() { return tutti_cuda_image; }

}  // namespace tutti::cuda
