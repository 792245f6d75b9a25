# Random calls, compared with the MPI's results: docs/contributing.md.
tutti_program(differential_test differential_test.cpp
              differential/call.cpp differential/choices.cpp differential/communicators.cpp differential/executor.cpp
              differential/generator.cpp differential/invocation.cpp differential/layout.cpp differential/memory.cpp
              differential/mpi_result.cpp differential/options.cpp differential/reference.cpp differential/user_op.cpp
              differential/values.cpp differential/watchdog.cpp ${PROJECT_SOURCE_DIR}/tests/support/device_memory.cpp)
target_link_libraries(differential_test PRIVATE Tutti::internal fmt::fmt tutti_test_settings ${CMAKE_DL_LIBS})
add_dependencies(mpi_tests differential_test)

# tutti_differential_test(NAME RANKS CALLS [ENVIRONMENT VARIABLE=VALUE ...] [OPTIONS ...]): so many random calls.
function(tutti_differential_test name ranks calls)
  cmake_parse_arguments(arg "" "" "ENVIRONMENT;OPTIONS" ${ARGN})
  if(ranks GREATER TUTTI_TEST_MAX_RANKS)
    return()
  endif()
  if(TUTTI_SANITIZE)
    math(EXPR calls "${calls} / 4")
  endif()
  tutti_mpirun_test(differential_test.${name} ${ranks} $<TARGET_FILE:differential_test> --calls ${calls}
                    --max-bytes 262144 ${arg_OPTIONS})
  set_tests_properties(differential_test.${name} PROPERTIES ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# On one node, and on several that are pretended: of one rank, of several, in any order. Seeds differ, as calls depend
# on the seed and hardly on the number of ranks.
tutti_differential_test(p2 2 1200)
tutti_differential_test(p3 3 800 OPTIONS --seed 2)
tutti_differential_test(p5 5 400 OPTIONS --seed 3)
tutti_differential_test(p8 8 200 OPTIONS --seed 10)
set(seed 3)
foreach(nodes "0,1" "0,0,1" "0,0,0,1" "0,0,1,1,1" "2,2,2,1,0" "0,0,0,1,1,1,1,2")
  math(EXPR seed "${seed} + 1")
  string(REGEX MATCHALL "[0-9]" each "${nodes}")
  list(LENGTH each ranks)
  math(EXPR calls "1600 / ${ranks}")
  tutti_differential_test(${nodes} ${ranks} ${calls} ENVIRONMENT TUTTI_NODES=${nodes} OPTIONS --seed ${seed})
endforeach()

# Over each transport, and over several at once.
tutti_differential_test(over_mpi.p3 3 500 OPTIONS --transport mpi --seed 11)
tutti_differential_test(transports.0,0,0,1 4 300 ENVIRONMENT TUTTI_NODES=0,0,0,1
                        OPTIONS --transport random --seed 12)
if(TUTTI_HAS_UCX)
  tutti_differential_test(over_ucx.p3 3 300 OPTIONS --transport ucx --seed 13)
endif()

# Two threads, each with communicators of its own, and a thread that makes progress.
tutti_differential_test(threads.p2 2 600 OPTIONS --threads 2 --seed 14)
tutti_differential_test(threads.0,0,1 3 400 ENVIRONMENT TUTTI_NODES=0,0,1 OPTIONS --threads 2 --seed 15)
tutti_differential_test(progress_thread.p2 2 600 ENVIRONMENT TUTTI_PROGRESS_THREAD=1 OPTIONS --threads 2 --seed 16)

# That faults are found, which are put in on purpose: a changed byte, and a rank that stops.
tutti_mpirun_test(differential_test.finds_a_wrong_byte 2 $<TARGET_FILE:differential_test> --calls 60 --spoil 4)
set_tests_properties(differential_test.finds_a_wrong_byte PROPERTIES
  PASS_REGULAR_EXPRESSION "WRONG on rank 1, thread 0, step 4: .*--seed 1 --only 4\n.* 1 wrong, ")
tutti_mpirun_test(differential_test.finds_a_rank_that_stops 2 $<TARGET_FILE:differential_test>
                  --calls 1000 --hang 8 --hang-after 3)
set_tests_properties(differential_test.finds_a_rank_that_stops PROPERTIES
  PASS_REGULAR_EXPRESSION "HANGS: rank [01], .*HANGS: rank [01], thread 0: seed 1, .*--seed 1 --only")
