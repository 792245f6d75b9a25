# tutti_fatbin(TARGET KERNELS SOURCE): builds the kernels by nvcc and adds SOURCE, which embeds the file that
# TUTTI_CUDA_IMAGE names, and includes the one that TUTTI_CUDA_IMAGE_SUM names. The first has machine code of the
# generations that nvcc knows, where a device runs that of its major version and a lower minor one: 80 is for 86 and 89,
# 120 for 121. For those to come it has PTX, uncompressed for tests to interpret, of the version that the oldest driver
# takes which Tutti runs on (CUDA 12.0), whatever nvcc's. Products and sums are not fused, so that the bits are those of
# the host. The second has a comment that changes with the first: a cache of compilations does not look into .incbin.
function(tutti_fatbin target kernels source)
  get_filename_component(name ${kernels} NAME_WE)
  set(image ${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin)
  set(ptx ${CMAKE_CURRENT_BINARY_DIR}/${name}.ptx)
  set(image_sum ${CMAKE_CURRENT_BINARY_DIR}/${name}_sum.hpp)
  set(generations sm_80,sm_90)
  if(TUTTI_CUDA_VERSION VERSION_GREATER_EQUAL 12.8)
    string(APPEND generations ,sm_100,sm_120)
  endif()
  add_custom_command(
    OUTPUT ${image} ${image_sum}
    COMMAND ${TUTTI_NVCC} -std=c++20 --expt-relaxed-constexpr -fmad=false -ptx -arch=compute_80
            -I ${PROJECT_SOURCE_DIR} -I ${PROJECT_SOURCE_DIR}/include -MD -MF ${image}.d -MT ${image} -o ${ptx}
            ${CMAKE_CURRENT_SOURCE_DIR}/${kernels}
    COMMAND sed -E -i "s/^[.]version (8|9|[1-9][0-9])[.].*/.version 8.0/" ${ptx}
    COMMAND ${TUTTI_NVCC} -fmad=false -fatbin --no-compress -gencode arch=compute_80,code=[${generations},compute_80]
            -o ${image} ${ptx}
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
