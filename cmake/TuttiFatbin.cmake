# tutti_fatbin(TARGET KERNELS SOURCE): builds the kernels by nvcc and adds SOURCE, which embeds the file that
# TUTTI_CUDA_IMAGE names, and includes the one that TUTTI_CUDA_IMAGE_SUM names. The first has machine code of three
# generations, and PTX for those to come, uncompressed for tests to interpret. Products and sums are not fused, so that
# the bits are those of the host. The second has a comment that changes with the first: a cache of compilations does not
# look into .incbin.
function(tutti_fatbin target kernels source)
  get_filename_component(name ${kernels} NAME_WE)
  set(image ${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin)
  set(image_sum ${CMAKE_CURRENT_BINARY_DIR}/${name}_sum.hpp)
  set(generations -gencode arch=compute_80,code=[sm_80,compute_80] -gencode arch=compute_90,code=sm_90)
  if(TUTTI_CUDA_VERSION VERSION_GREATER_EQUAL 12.8)
    list(APPEND generations -gencode arch=compute_100,code=sm_100)
  endif()
  add_custom_command(
    OUTPUT ${image} ${image_sum}
    COMMAND ${TUTTI_NVCC} -std=c++20 --expt-relaxed-constexpr -fmad=false -fatbin --no-compress ${generations}
            -I ${PROJECT_SOURCE_DIR} -I ${PROJECT_SOURCE_DIR}/include -MD -MF ${image}.d -o ${image}
            ${CMAKE_CURRENT_SOURCE_DIR}/${kernels}
    COMMAND ${CMAKE_COMMAND} -E echo_append "// " > ${image_sum}
    COMMAND ${CMAKE_COMMAND} -E sha256sum ${image} >> ${image_sum}
    DEPENDS ${kernels}
    DEPFILE ${image}.d
    COMMENT "Building the CUDA kernels ${name}"
    VERBATIM)
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES
    COMPILE_DEFINITIONS "TUTTI_CUDA_IMAGE=\"${image}\";TUTTI_CUDA_IMAGE_SUM=\"${image_sum}\""
    OBJECT_DEPENDS "${image};${image_sum}")
endfunction()
