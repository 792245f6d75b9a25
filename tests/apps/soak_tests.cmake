# Random calls, with results of the MPI's and with results computed for them: docs/soak.md.

# tutti_soak_calls(NAME RANKS CALLS [ENVIRONMENT VARIABLE=VALUE ...] [OPTIONS ...]): so many random calls of each thread.
function(tutti_soak_calls name ranks calls)
  cmake_parse_arguments(arg "" "" "ENVIRONMENT;OPTIONS" ${ARGN})
  if(ranks GREATER TUTTI_TEST_MAX_RANKS)
    return()
  endif()
  if(TUTTI_SANITIZE)
    math(EXPR calls "${calls} / 4")
  endif()
  tutti_mpirun_test(soak_calls.${name} ${ranks} $<TARGET_FILE:tutti-soak> --calls ${calls} --compare mpi
                    --most-bytes 256K ${arg_OPTIONS})
  set_tests_properties(soak_calls.${name} PROPERTIES ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()

# On one node, and on several that are pretended: of one rank, of several, in any order. Seeds differ, as calls depend
# on the seed and hardly on the number of ranks.
tutti_soak_calls(p2 2 3000 OPTIONS --seed 1)
tutti_soak_calls(p3 3 2000 OPTIONS --seed 2)
tutti_soak_calls(p5 5 1000 OPTIONS --seed 3)
tutti_soak_calls(p8 8 500 OPTIONS --seed 10)
set(seed 3)
foreach(nodes "0,1" "0,0,1" "0,0,0,1" "0,0,1,1,1" "2,2,2,1,0" "0,0,0,1,1,1,1,2")
  math(EXPR seed "${seed} + 1")
  string(REGEX MATCHALL "[0-9]" each "${nodes}")
  list(LENGTH each ranks)
  math(EXPR calls "4000 / ${ranks}")
  tutti_soak_calls(${nodes} ${ranks} ${calls} ENVIRONMENT TUTTI_NODES=${nodes} OPTIONS --seed ${seed})
endforeach()

# Over each transport, and over several at once.
tutti_soak_calls(over_mpi.p3 3 1000 OPTIONS --transport mpi --seed 11)
tutti_soak_calls(transports.0,0,0,1 4 600 ENVIRONMENT TUTTI_NODES=0,0,0,1 OPTIONS --transport random --seed 12)
if(TUTTI_HAS_UCX)
  tutti_soak_calls(over_ucx.p3 3 600 OPTIONS --transport ucx --seed 13)
endif()

# Two threads, each with communicators of its own, and a thread that makes progress.
tutti_soak_calls(threads.p2 2 600 OPTIONS --threads 2 --seed 14)
tutti_soak_calls(threads.0,0,1 3 400 ENVIRONMENT TUTTI_NODES=0,0,1 OPTIONS --threads 2 --seed 15)
tutti_soak_calls(progress_thread.p2 2 600 ENVIRONMENT TUTTI_PROGRESS_THREAD=1 OPTIONS --threads 2 --seed 16)

# By time, where growth of memory and descriptors is judged. Ranks that wait yield to the tests beside them: CTest counts
# one processor, and begins with these.
function(tutti_soak_time name ranks seconds)
  if(ranks LESS_EQUAL TUTTI_TEST_MAX_RANKS AND NOT TUTTI_SANITIZE)
    tutti_mpirun_test(${name} ${ranks} $<TARGET_FILE:tutti-soak> --seconds ${seconds} --threads 2 ${ARGN})
    set_tests_properties(${name} PROPERTIES PROCESSORS 1 COST 10000 LABELS soak TIMEOUT 900)
  endif()
endfunction()
tutti_soak_time(soak_minute 3 60)
tutti_soak_time(soak_long 4 600 --transport random)
if(TEST soak_long)
  set_tests_properties(soak_long PROPERTIES LABELS "soak;full" ENVIRONMENT TUTTI_NODES=0,0,1,1)
endif()
