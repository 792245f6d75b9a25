#include "lib/cuda/image.hpp"

// TUTTI_CUDA_IMAGE: the file that nvcc made of kernels.cu.
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
