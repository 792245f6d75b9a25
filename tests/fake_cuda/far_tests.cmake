# Data on devices that UCX takes where they are, over the fake driver. Debian's UCX has no CUDA; the tests take the one of
# TUTTI_CUDA_UCX_DIR, and are skipped where there is none. With an MPI that knows CUDA: scripts/device_stack_tests.sh.
set(TUTTI_CUDA_UCX_DIR "" CACHE PATH "For tests: a UCX with CUDA, the folder that has lib/libucp.so.0")

tutti_fake_cuda_test(device_far_test ${tests}/mpi/device_far_test.cpp RANKS 1 ENVIRONMENT FAKE_CUDA_ABORT=1)
add_dependencies(device_suites fake_cuda_nvml) # of which UCX asks for links

# Two nodes, and what crosses between them; the stage lab of scripts/test.sh runs it on nodes that are not pretended.
tutti_fake_cuda_test(device_nodes_test ${tests}/mpi/device_nodes_test.cpp RANKS 4
                     ENVIRONMENT TUTTI_NODES=0,0,1,1 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_nodes_test in_turns 4 TUTTI_NODES=0,1,0,1 FAKE_CUDA_DEVICES=4 FAKE_CUDA_ABORT=1)
tutti_again_over_fake_cuda(device_nodes_test uneven 4 TUTTI_NODES=0,1,1,1 FAKE_CUDA_ABORT=1)
if(TUTTI_HAS_UCX)
  tutti_again_over_fake_cuda(device_nodes_test over_ucx 4 TUTTI_NODES=0,0,1,1 TUTTI_TRANSPORT=shm+ucx FAKE_CUDA_ABORT=1)
endif()

# A way that is forced and not there is refused on all ranks. The program fails then: it is not for the list of a GPU.
function(tutti_refuses_way variant text)
  if(TUTTI_TEST_MAX_RANKS GREATER_EQUAL 2)
    tutti_mpirun_test(device_far_test.refuses.${variant}.p2 2 ${device_far_test})
    tutti_over_fake_cuda(device_far_test.refuses.${variant}.p2 ${ARGN})
    set_tests_properties(device_far_test.refuses.${variant}.p2 PROPERTIES PASS_REGULAR_EXPRESSION "${text}")
  endif()
endfunction()
tutti_refuses_way(no_ucx "'ucx', which cannot be used here: rank 0: no message goes over UCX" TUTTI_DEVICE_PATH=ucx)
if(TUTTI_HAS_UCX)
  tutti_refuses_way(no_cuda "'ucx', which cannot be used here: rank 0: the UCX that was found has no CUDA"
                    TUTTI_DEVICE_PATH=ucx TUTTI_TRANSPORT=ucx)
endif()

set(why_not)
if(NOT TUTTI_HAS_UCX)
  set(why_not "built without UCX")
elseif(NOT TUTTI_CUDA_UCX_DIR)
  set(why_not "TUTTI_CUDA_UCX_DIR names no UCX with CUDA. 'scripts/setup.sh ucx FOLDER' brings one to FOLDER/libucx")
elseif(NOT EXISTS ${TUTTI_CUDA_UCX_DIR}/lib/libucp.so.0 OR NOT EXISTS ${TUTTI_CUDA_UCX_DIR}/lib/ucx/libuct_cuda.so.0)
  set(why_not "${TUTTI_CUDA_UCX_DIR}, of TUTTI_CUDA_UCX_DIR, has no lib/libucp.so.0 or no lib/ucx/libuct_cuda.so.0")
endif()

# tutti_over_cuda_ucx(SUITE VARIANT RANKS [VARIABLE=VALUE ...]): a suite over that UCX.
function(tutti_over_cuda_ucx suite variant ranks)
  set(test ${suite}.${variant}.p${ranks})
  if(ranks GREATER TUTTI_TEST_MAX_RANKS)
    return()
  endif()
  if(why_not)
    add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -E echo "SKIP: ${why_not}")
    set_tests_properties(${test} PROPERTIES SKIP_REGULAR_EXPRESSION "^SKIP: " LABELS mpi)
    return()
  endif()
  tutti_mpirun_test(${test} ${ranks} ${${suite}})
  set_tests_properties(${test} PROPERTIES ENVIRONMENT
    "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:fake_cuda>:${TUTTI_CUDA_UCX_DIR}/lib:$ENV{LD_LIBRARY_PATH};FAKE_CUDA_ABORT=1;${ARGN}")
endfunction()

# All messages over UCX; inside pretended nodes by IPC; as between real nodes, where UCX shares no memory.
set(all_ucx TUTTI_TRANSPORT=ucx TUTTI_DEVICE_PATH=ucx)
set(far_ucx TUTTI_TRANSPORT=shm+ucx)
foreach(suite IN ITEMS device_far_test device_collectives_test)
  tutti_over_cuda_ucx(${suite} by_ucx 2 ${all_ucx})
  tutti_over_cuda_ucx(${suite} by_ucx 3 ${all_ucx} FAKE_CUDA_DEVICES=3)
  tutti_over_cuda_ucx(${suite} by_tcp 2 ${all_ucx} FAKE_CUDA_DEVICES=2 UCX_TLS=tcp,self,cuda_copy)
  tutti_over_cuda_ucx(${suite} by_ipc_and_ucx 4 ${far_ucx} TUTTI_NODES=0,0,1,1)
  tutti_over_cuda_ucx(${suite} late.by_ucx 3 ${all_ucx} ${late} FAKE_CUDA_DEVICES=2)
  tutti_over_cuda_ucx(${suite} late.by_ipc_and_ucx 3 ${far_ucx} TUTTI_NODES=0,1,0 ${late})
endforeach()
tutti_over_cuda_ucx(device_nodes_test by_ipc_and_ucx 4 ${far_ucx} TUTTI_NODES=0,0,1,1)
tutti_over_cuda_ucx(device_collectives_test by_ipc_and_ucx.own_devices 4 ${far_ucx} TUTTI_NODES=0,0,1,1
                    FAKE_CUDA_DEVICES=4)
tutti_over_cuda_ucx(device_far_test by_ucx.progress_thread 2 ${all_ucx} TUTTI_PROGRESS_THREAD=1)
tutti_in_full_runs("device_collectives_test\\.(by_tcp|late\\.by_ipc_and_ucx)\\..*" "device_far_test\\.(by_tcp|late).*")
if(NOT why_not)
  set(ucx_first "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:fake_cuda>:${TUTTI_CUDA_UCX_DIR}/lib:$ENV{LD_LIBRARY_PATH}")
  if(TARGET tutti-soak)
    tutti_soak_device_calls(by_ucx.p3 3 150 ENVIRONMENT ${ucx_first} OPTIONS --transport ucx --seed 40)
    tutti_soak_device_calls(by_ipc_and_ucx.0,0,1 3 150 ENVIRONMENT ${ucx_first} ${late} TUTTI_NODES=0,0,1
                            OPTIONS --transport shm+ucx --seed 41)
  endif()
  add_test(NAME info_ucx_test COMMAND tutti_tool info)
  set_tests_properties(info_ucx_test PROPERTIES
    PASS_REGULAR_EXPRESSION "UCX      takes memory of devices .cuda_copy, cuda_ipc; no gdr_copy; UCX_PROTO_INFO=y"
    ENVIRONMENT "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:fake_cuda>:${TUTTI_CUDA_UCX_DIR}/lib")
endif()

# One seed of each.
tutti_in_full_runs(".*\\.late\\.(on_device\\.)?[23](\\..*)?" "soak_calls\\.devices\\.(p3|late\\.p2|threads\\.p2)")
tutti_in_full_runs("device_failures_test\\.on_device\\..*")
# Of variants that take long, those on two ranks, or one of two that are late.
tutti_in_full_runs("device_collectives_test\\.((late\\.)?by_ucx|late\\.1|unreachable)\\.p3")
tutti_in_full_runs("device_streams_test\\.(late\\.1|gated\\.ipc|one_queue)\\.p3" "device_far_test\\.by_ucx\\.p3")
tutti_tests_like(over_tcp ".*\\.by_tcp\\..*")
foreach(test IN LISTS over_tcp)
  set_tests_properties(${test} PROPERTIES TIMEOUT 900)
endforeach()
