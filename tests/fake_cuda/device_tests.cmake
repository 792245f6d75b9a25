# The library's tests on device buffers, over the fake driver, and the list of them for a machine with a GPU.

# tutti_on_gpu(NAME PROGRAM RANKS [ENVIRONMENT VARIABLE=VALUE ...] [ARGUMENTS ...]): a line of the list gpu_tests.txt, which
# scripts/gpu_check.sh reads. RANKS 0: without mpirun. What only settings of the fake driver tell apart is listed once, and
# what wants a driver that lacks functions not at all.
# PROGRAM is one of tests/, or a path in the build's folder.
function(tutti_on_gpu name program ranks)
  cmake_parse_arguments(arg "" "" "ENVIRONMENT;ARGUMENTS" ${ARGN})
  if("${arg_ENVIRONMENT}" MATCHES "FAKE_CUDA_MISSING")
    return()
  endif()
  list(FILTER arg_ENVIRONMENT EXCLUDE REGEX "^FAKE_CUDA_")
  list(JOIN arg_ENVIRONMENT " " environment)
  list(JOIN arg_ARGUMENTS " " arguments)
  if(NOT program MATCHES "/")
    string(PREPEND program tests/)
  endif()
  set(run "${program}|${ranks}|${environment}|${arguments}")
  get_property(runs GLOBAL PROPERTY tutti_gpu_runs)
  if(NOT run IN_LIST runs)
    set_property(GLOBAL APPEND PROPERTY tutti_gpu_runs "${run}")
    set_property(GLOBAL APPEND_STRING PROPERTY tutti_gpu_tests "${name}|${run}\n")
  endif()
endfunction()

# tutti_over_fake_cuda(TEST [VARIABLE=VALUE ...]): the environment of a test.
function(tutti_over_fake_cuda test)
  if(TEST ${test})
    set_tests_properties(${test} PROPERTIES ENVIRONMENT
      "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:fake_cuda>:$ENV{LD_LIBRARY_PATH};${ARGN}")
  endif()
endfunction()

# tutti_fake_cuda_test(NAME SOURCES... [RANKS 1 2 ... [ALONE]] [LIBRARIES ...] [ENVIRONMENT VARIABLE=VALUE ...]): a suite of
# the library; with RANKS under mpirun, and ALONE as tutti_mpi_test() has it.
function(tutti_fake_cuda_test name)
  cmake_parse_arguments(arg "ALONE" "" "RANKS;LIBRARIES;ENVIRONMENT" ${ARGN})
  if(arg_RANKS)
    set(alone)
    if(arg_ALONE)
      set(alone ALONE)
    endif()
    tutti_mpi_test(${name} ${arg_UNPARSED_ARGUMENTS} INTERNAL ${alone} RANKS ${arg_RANKS} LIBRARIES ${arg_LIBRARIES})
    foreach(ranks IN LISTS arg_RANKS)
      tutti_suite_on_gpu(${name}.p${ranks} ${name} ${ranks} ENVIRONMENT ${arg_ENVIRONMENT})
    endforeach()
    list(TRANSFORM arg_RANKS PREPEND ${name}.p OUTPUT_VARIABLE tests)
    set(program device_suites)
    if(arg_ALONE)
      set(program ${name})
    endif()
  else()
    set(program device_units)
    tutti_suite(${name} ${program} Tutti::internal tutti_unit_main ${arg_UNPARSED_ARGUMENTS})
    add_test(NAME ${name} COMMAND ${${name}})
    tutti_suite_on_gpu(${name} ${name} 0 ENVIRONMENT ${arg_ENVIRONMENT})
    set(tests ${name})
  endif()
  target_include_directories(${program} SYSTEM PRIVATE ${TUTTI_CUDA_INCLUDE_DIR})
  add_dependencies(${program} fake_cuda)
  foreach(test IN LISTS tests)
    tutti_over_fake_cuda(${test} ${arg_ENVIRONMENT})
  endforeach()
endfunction()

# tutti_suite_on_gpu(TEST SUITE RANKS [ENVIRONMENT VARIABLE=VALUE ...])
function(tutti_suite_on_gpu test suite ranks)
  list(GET ${suite} 0 program)
  list(GET ${suite} 1 arguments)
  string(REGEX REPLACE "\\$<TARGET_FILE:(.*)>" "\\1" program ${program})
  tutti_on_gpu(${test} ${program} ${ranks} ARGUMENTS ${arguments} ${ARGN})
endfunction()

# tutti_again_over_fake_cuda(NAME VARIANT RANKS [VARIABLE=VALUE ...]): a suite with other settings.
function(tutti_again_over_fake_cuda name variant ranks)
  if(ranks LESS_EQUAL TUTTI_TEST_MAX_RANKS)
    tutti_mpirun_test(${name}.${variant}.p${ranks} ${ranks} ${${name}})
    tutti_over_fake_cuda(${name}.${variant}.p${ranks} ${ARGN})
  endif()
  tutti_suite_on_gpu(${name}.${variant}.p${ranks} ${name} ${ranks} ENVIRONMENT ${ARGN})
endfunction()

# One program of their own.
set(tests_on_devices ON)
set(tests ${PROJECT_SOURCE_DIR}/tests)
tutti_fake_cuda_test(cuda_survey_test ${tests}/cuda/survey_test.cpp ENVIRONMENT FAKE_CUDA_DEVICES=2)
set(described cuDeviceGetName,cuDeviceTotalMem,cuDeviceGetPCIBusId,cuDeviceCanAccessPeer,cuDeviceGetP2PAttribute)
foreach(setting IN ITEMS "DEVICES=0" "DEVICES=2;FAKE_CUDA_PEER=0" "DEVICES=2;FAKE_CUDA_MISSING=${described}")
  string(REGEX MATCH "[A-Z]+=[0a-z]" name "${setting}")
  add_test(NAME cuda_survey_test.${name} COMMAND ${cuda_survey_test})
  tutti_over_fake_cuda(cuda_survey_test.${name} "FAKE_CUDA_${setting}")
endforeach()
tutti_fake_cuda_test(memory_kind_cuda_test ${tests}/mpi/memory_kind_cuda_test.cpp)
if(NOT TUTTI_NVCC)
  return()
endif()

tutti_fake_cuda_test(cuda_kernels_test ${tests}/cuda/kernels_test.cpp)
if(EXISTS ${TUTTI_CUDA_INCLUDE_DIR}/cuda_fp8.h)
  tutti_fake_cuda_test(cuda_fp8_test ${tests}/cuda/fp8_conversions_test.cpp)
endif()
tutti_fake_cuda_test(cuda_driver_test ${tests}/cuda/driver_test.cpp)
foreach(missing IN ITEMS cuFuncLoad cuMemAlloc)
  add_test(NAME cuda_driver_test.without.${missing} COMMAND ${cuda_driver_test})
  tutti_over_fake_cuda(cuda_driver_test.without.${missing} FAKE_CUDA_MISSING=${missing})
endforeach()
# As late as it may be, and with races looked for.
set(late FAKE_CUDA_DELAY_US=100 FAKE_CUDA_RACE=1 FAKE_CUDA_ABORT=1)
tutti_fake_cuda_test(cuda_executor_test ${tests}/cuda/executor_test.cpp)
foreach(seed RANGE 1 3)
  add_test(NAME cuda_executor_test.late.${seed} COMMAND ${cuda_executor_test} --gtest_filter=*Late*)
  tutti_over_fake_cuda(cuda_executor_test.late.${seed} ${late} FAKE_CUDA_SEED=${seed})
endforeach()

# The API, errors, and costs.
tutti_fake_cuda_test(device_buffers_test ${tests}/mpi/device_buffers_test.cpp ${tests}/mpi/device_operations_test.cpp
                     ${tests}/mpi/device_mapped_test.cpp
                     ${tests}/support/device_memory.cpp
                     RANKS 1 2 3 4
                     ENVIRONMENT FAKE_CUDA_DEVICES=3 FAKE_CUDA_ABORT=1)
tutti_fake_cuda_test(device_failures_test ${tests}/mpi/device_failures_test.cpp RANKS 1
                     ENVIRONMENT TUTTI_STAGING=host TUTTI_STREAM_MEMORY=0)
tutti_again_over_fake_cuda(device_failures_test on_device 1 TUTTI_STAGING=device TUTTI_STREAM_MEMORY=0)
tutti_fake_cuda_test(device_counts_test ${tests}/mpi/device_counts_test.cpp RANKS 1 2 3 4)
foreach(ranks 2 4)
  if(ranks LESS_EQUAL TUTTI_TEST_MAX_RANKS)
    tutti_mpirun_test(device_counts_test.late.p${ranks} ${ranks} ${device_counts_test}
                      --gtest_filter=*Overlap*)
    tutti_over_fake_cuda(device_counts_test.late.p${ranks} FAKE_CUDA_DELAY_US=20000)
  endif()
endforeach()

# Memory that peers map.
tutti_fake_cuda_test(device_ipc_test ${tests}/mpi/device_ipc_test.cpp ${tests}/mpi/device_ipc_memory_test.cpp
                     RANKS 2 3 4 8
                     ENVIRONMENT FAKE_CUDA_ABORT=1 FAKE_CUDA_FABRIC=1)
tutti_again_over_fake_cuda(device_ipc_test apart 3 FAKE_CUDA_DEVICES=3 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_ipc_test already_mapped 2 FAKE_CUDA_ALREADY_MAPPED=1 FAKE_CUDA_ABORT=1)
foreach(seed RANGE 1 2)
  tutti_again_over_fake_cuda(device_ipc_test late.${seed} 3 ${late} FAKE_CUDA_SEED=${seed})
endforeach()
if(2 LESS_EQUAL TUTTI_TEST_MAX_RANKS)
  tutti_mpirun_test(device_ipc_test.strict.p2 2 ${device_ipc_test} --gtest_filter=*TuttisMemory*)
  tutti_over_fake_cuda(device_ipc_test.strict.p2 FAKE_CUDA_STRICT_IPC=1 FAKE_CUDA_ABORT=1)
endif()

# Training on a device.
if(TARGET tutti_bench)
  tutti_fake_cuda_test(bench_stream_test ${tests}/apps/bench_stream_test.cpp RANKS 1 LIBRARIES Tutti::bench
                       ENVIRONMENT FAKE_CUDA_DELAY_US=20000 FAKE_CUDA_ABORT=1)
endif()
if(TARGET tutti_sgd)
  set(digits ${PROJECT_SOURCE_DIR}/apps/data/digits.csv)
  tutti_fake_cuda_test(sgd_device_test ${tests}/apps/sgd_device_test.cpp RANKS 1 2 3 LIBRARIES Tutti::sgd)
  target_compile_definitions(device_suites PRIVATE TUTTI_TEST_DIGITS="${digits}")
  add_test(NAME sgd_device_cli_test
           COMMAND ${tests}/apps/sgd_device_cli_test.sh ${PROJECT_SOURCE_DIR}/scripts/mpirun.sh ${MPIEXEC_EXECUTABLE}
                   $<TARGET_FILE:tutti-sgd> ${digits} $<TARGET_FILE_DIR:fake_cuda> $<TARGET_FILE_DIR:fake_cublas>
                   ${TUTTI_TEST_MAX_RANKS})
  set_tests_properties(sgd_device_cli_test PROPERTIES TIMEOUT 600 PROCESSORS 2 LABELS mpi)
  add_dependencies(mpi_tests fake_cuda fake_cublas)
endif()

# Arrays of Python (tests/python).
if(TUTTI_APPS AND 2 LESS_EQUAL TUTTI_TEST_MAX_RANKS)  # which install the package
  add_test(NAME python.devices.p2 COMMAND ${tests}/python/run.sh tests ${PROJECT_BINARY_DIR} ${MPIEXEC_EXECUTABLE} 2
                                          test_devices.py test_memory.py)
  set_tests_properties(python.devices.p2 PROPERTIES TIMEOUT 300 PROCESSORS 2 LABELS mpi SKIP_RETURN_CODE 77
                                                    FIXTURES_REQUIRED python)
  tutti_over_fake_cuda(python.devices.p2 FAKE_CUDA_ABORT=1)
endif()

# All collectives and algorithms: one device that all ranks share, and one for each; the host works, or the device; over
# each transport and on nodes that are pretended; late, with races looked for.
tutti_fake_cuda_test(device_collectives_test ${tests}/mpi/device_collectives_test.cpp RANKS 1 2 3 4 8
                     ENVIRONMENT FAKE_CUDA_ABORT=1)
set(staged TUTTI_DEVICE_PATH=staging)
# Schedules of files.
if(TARGET tutti_scenes)
  tutti_fake_cuda_test(device_schedule_files_test ${tests}/mpi/device_schedule_files_test.cpp RANKS 2 3 4
                       LIBRARIES Tutti::scenes Tutti::options ENVIRONMENT FAKE_CUDA_ABORT=1)
  tutti_again_over_fake_cuda(device_schedule_files_test staged 3 ${staged} FAKE_CUDA_ABORT=1)
  tutti_again_over_fake_cuda(device_schedule_files_test nodes 4 TUTTI_NODES=0,0,1,1 FAKE_CUDA_ABORT=1)
endif()
tutti_again_over_fake_cuda(device_collectives_test staged 2 ${staged} FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_collectives_test staged 4 ${staged} FAKE_CUDA_DEVICES=4 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_collectives_test on_host 2 ${staged} TUTTI_STAGING=host FAKE_CUDA_DEVICES=2 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_collectives_test on_host 3 ${staged} TUTTI_STAGING=host FAKE_CUDA_DEVICES=3 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_collectives_test on_device 3 ${staged} TUTTI_STAGING=device FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_collectives_test on_device 4 ${staged} TUTTI_STAGING=device FAKE_CUDA_DEVICES=4 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_collectives_test over_mpi 3 TUTTI_TRANSPORT=mpi FAKE_CUDA_DEVICES=3 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_collectives_test nodes 4 TUTTI_NODES=0,1,1,0 TUTTI_STAGING=device FAKE_CUDA_ABORT=1)
foreach(seed RANGE 1 3)
  tutti_again_over_fake_cuda(device_collectives_test late.${seed} 3 ${late} FAKE_CUDA_SEED=${seed}
                             FAKE_CUDA_DEVICES=${seed})
  tutti_again_over_fake_cuda(device_collectives_test late.on_device.${seed} 2 ${late} ${staged} FAKE_CUDA_SEED=${seed}
                             TUTTI_STAGING=device)
endforeach()
# Peers map each other's memory: one device a rank; devices that do not reach each other; on nodes.
tutti_again_over_fake_cuda(device_collectives_test apart 4 FAKE_CUDA_DEVICES=4 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_collectives_test unreachable 3 FAKE_CUDA_DEVICES=3 FAKE_CUDA_PEER=0 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_collectives_test nodes.ipc 4 TUTTI_NODES=0,1,1,0 FAKE_CUDA_ABORT=1)
if(TUTTI_HAS_UCX)
  tutti_again_over_fake_cuda(device_collectives_test over_ucx 3 TUTTI_TRANSPORT=ucx FAKE_CUDA_ABORT=1)
endif()

# The fixed order of operands, in each way that data may take.
tutti_fake_cuda_test(device_fixed_bits_test ${tests}/mpi/device_fixed_bits_test.cpp RANKS 1 2 3 4 5 7
                     ENVIRONMENT FAKE_CUDA_ABORT=1)
foreach(worker host device)
  tutti_again_over_fake_cuda(device_fixed_bits_test staged.${worker} 3 ${staged} TUTTI_STAGING=${worker} FAKE_CUDA_ABORT=1)
endforeach()
tutti_again_over_fake_cuda(device_fixed_bits_test nodes 4 TUTTI_NODES=0,1,1,0 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_fixed_bits_test gated 3 TUTTI_STREAM_MEMORY=0 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_fixed_bits_test late 3 ${late})

# Calls in the order of streams: programs, long calls in parts, and calls that the host moves.
set(streams ${tests}/support/device_streams.cpp)
tutti_fake_cuda_test(device_streams_test ${tests}/mpi/device_streams_test.cpp ${streams}
                     RANKS 1 2 3 4 8 ENVIRONMENT FAKE_CUDA_ABORT=1)
tutti_fake_cuda_test(device_stream_rules_test ${tests}/mpi/device_stream_rules_test.cpp ${streams}
                     RANKS 1 2 3 4 8 ENVIRONMENT FAKE_CUDA_ABORT=1)
tutti_fake_cuda_test(device_stream_plans_test ${tests}/mpi/device_stream_plans_test.cpp
                     RANKS 1 2 3 4 8 ENVIRONMENT FAKE_CUDA_ABORT=1)
# Lists of buffers, packed on devices.
tutti_fake_cuda_test(device_lists_test ${tests}/mpi/device_lists_test.cpp RANKS 1 2 3 4 8
                     ENVIRONMENT FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_lists_test staged 3 ${staged} FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_lists_test nodes 4 TUTTI_NODES=0,1,1,0 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_lists_test late 3 ${late} FAKE_CUDA_DEVICES=3)
# Compression on devices.
tutti_fake_cuda_test(device_compression_test ${tests}/mpi/device_compression_test.cpp RANKS 1 2 3 4
                     ENVIRONMENT FAKE_CUDA_ABORT=1)
tutti_mpi_program_test(device_finalize_test ${tests}/mpi/device_finalize_test.cpp ${tests}/support/device_memory.cpp RANKS 2)
target_include_directories(device_finalize_test SYSTEM PRIVATE ${TUTTI_CUDA_INCLUDE_DIR})
target_link_libraries(device_finalize_test PRIVATE ${CMAKE_DL_LIBS})
add_dependencies(device_finalize_test fake_cuda)
tutti_over_fake_cuda(device_finalize_test.p2 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_compression_test late 3 ${late} FAKE_CUDA_DEVICES=3)
tutti_again_over_fake_cuda(device_compression_test without_pools 2 FAKE_CUDA_MISSING=cuMemAllocAsync FAKE_CUDA_ABORT=1)
foreach(seed RANGE 1 3)
  tutti_again_over_fake_cuda(device_streams_test late.${seed} 3 ${late} FAKE_CUDA_SEED=${seed} FAKE_CUDA_DEVICES=${seed})
endforeach()
tutti_again_over_fake_cuda(device_streams_test apart 4 FAKE_CUDA_DEVICES=4 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_streams_test parts 3 TUTTI_STREAM_MEMORY=49152 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_streams_test parts 4 TUTTI_STREAM_MEMORY=131072 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_streams_test one_queue 3 CUDA_DEVICE_MAX_CONNECTIONS=1 FAKE_CUDA_ABORT=1)
set(gated TUTTI_TEST_GATED=1 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_streams_test gated.ipc 3 TUTTI_STREAM_MEMORY=0 ${gated})
tutti_again_over_fake_cuda(device_streams_test gated.nodes 4 TUTTI_NODES=0,1,1,0 ${gated})
tutti_again_over_fake_cuda(device_streams_test gated.staged 2 TUTTI_DEVICE_PATH=staging ${gated})
tutti_again_over_fake_cuda(device_streams_test gated.over_mpi 3 TUTTI_TRANSPORT=mpi ${gated})
tutti_again_over_fake_cuda(device_streams_test gated.functions 2 FAKE_CUDA_MISSING=cuStreamBatchMemOp ${gated})
tutti_again_over_fake_cuda(device_streams_test gated.late 3 TUTTI_TEST_GATED=1 TUTTI_NODES=0,0,1 ${late})
tutti_again_over_fake_cuda(device_stream_rules_test late 3 ${late})
tutti_again_over_fake_cuda(device_stream_plans_test late 4 ${late})
tutti_again_over_fake_cuda(device_stream_plans_test apart 3 FAKE_CUDA_DEVICES=3 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_stream_rules_test apart 3 FAKE_CUDA_DEVICES=3 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_stream_rules_test queues 2 FAKE_CUDA_SHARED_QUEUES=1 CUDA_DEVICE_MAX_CONNECTIONS=2
                           TUTTI_HANG_SECONDS=2 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_stream_rules_test frees 2 FAKE_CUDA_DELAY_US=50)

# What real drivers may do otherwise: all of it together, but for streams that refuse to wait for words; and each alone.
set(suites device_buffers_test device_ipc_test device_stream_rules_test device_stream_plans_test device_collectives_test
           device_streams_test)
set(together ${TUTTI_FAKE_CUDA_MODELS})
list(REMOVE_ITEM together FAKE_CUDA_STREAM_MEMOPS=0)
foreach(suite IN LISTS suites)
  tutti_again_over_fake_cuda(${suite} models 2 ${together} FAKE_CUDA_ABORT=1)
  if(NOT suite MATCHES "rules|plans" AND 2 LESS_EQUAL TUTTI_TEST_MAX_RANKS)  # whose rules are those of streams that wait
    tutti_mpirun_test(${suite}.no_waits.p2 2 ${${suite}})  # not on a GPU, where streams wait
    tutti_over_fake_cuda(${suite}.no_waits.p2 FAKE_CUDA_STREAM_MEMOPS=0 TUTTI_TEST_GATED=1 FAKE_CUDA_ABORT=1)
  endif()
  foreach(model IN LISTS together)
    tutti_again_over_fake_cuda(${suite} ${model} 2 ${model} FAKE_CUDA_ABORT=1)
    if(TEST ${suite}.${model}.p2)
      set_tests_properties(${suite}.${model}.p2 PROPERTIES LABELS "mpi;full")
    endif()
  endforeach()
endforeach()

# Nothing is allocated for calls that recur.
set(counted ${tests}/support/counted_allocations.cpp ${tests}/support/device_memory.cpp ${streams})
tutti_fake_cuda_test(device_allocation_test ${tests}/mpi/device_allocation_test.cpp ${counted} RANKS 1 2 3 ALONE)
foreach(ranks 2 3)
  foreach(worker host device)
    tutti_again_over_fake_cuda(device_allocation_test staged.${worker} ${ranks} ${staged} TUTTI_STAGING=${worker})
  endforeach()
  tutti_again_over_fake_cuda(device_allocation_test over_mpi ${ranks} TUTTI_TRANSPORT=mpi)
  tutti_again_over_fake_cuda(device_allocation_test unreachable ${ranks} FAKE_CUDA_DEVICES=3 FAKE_CUDA_PEER=0)
endforeach()

# Random calls, of which many are on devices, against the MPI's results.
function(tutti_soak_device_calls name ranks calls)
  cmake_parse_arguments(arg "" "" "ENVIRONMENT;OPTIONS" ${ARGN})
  set(memory --memory host,tutti,device)
  tutti_soak_calls(devices.${name} ${ranks} ${calls} OPTIONS ${memory} ${arg_OPTIONS})
  tutti_over_fake_cuda(soak_calls.devices.${name} FAKE_CUDA_ABORT=1 ${arg_ENVIRONMENT})
  tutti_on_gpu(soak_calls.devices.${name} apps/soak/tutti-soak ${ranks} ENVIRONMENT ${arg_ENVIRONMENT}
               ARGUMENTS --calls ${calls} --compare mpi --most-bytes 256K ${memory} ${arg_OPTIONS})
endfunction()
if(TARGET tutti-soak)
  tutti_soak_device_calls(p2 2 600 OPTIONS --seed 31)
  tutti_soak_device_calls(p3 3 450 ENVIRONMENT FAKE_CUDA_DEVICES=3 OPTIONS --seed 32)
  tutti_soak_device_calls(p8 8 90 OPTIONS --seed 33)
  tutti_soak_device_calls(on_device.p4 4 220 ENVIRONMENT TUTTI_STAGING=device OPTIONS --seed 34)
  tutti_soak_device_calls(transports.0,0,0,1 4 220 ENVIRONMENT TUTTI_NODES=0,0,0,1 OPTIONS --transport random --seed 35)
  tutti_soak_device_calls(late.p2 2 300 ENVIRONMENT ${late} OPTIONS --seed 36)
  tutti_soak_device_calls(late.0,0,1 3 220 ENVIRONMENT ${late} TUTTI_NODES=0,0,1 TUTTI_STAGING=device
                          OPTIONS --seed 37)
  tutti_soak_device_calls(threads.p2 2 150 OPTIONS --threads 2 --seed 38)
  if(TUTTI_HAS_UCX)
    tutti_soak_device_calls(over_ucx.p3 3 220 OPTIONS --transport ucx --seed 39)
  endif()
endif()

# On a GPU, where kernels need no interpreter, also with more ranks.
tutti_suite_on_gpu(device_buffers_test.p8 device_buffers_test 8)
if(TARGET tutti_sgd)
  tutti_suite_on_gpu(sgd_device_test.p8 sgd_device_test 8)
endif()

include(far_tests.cmake)
