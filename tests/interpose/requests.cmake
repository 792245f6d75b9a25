# Nonblocking and persistent collectives, behind requests.

# requests_differential(SUITE MIN_SERVED_PERCENT SOURCES...): a suite whose calls are made by requests, and compared with the
# blocking ones of the MPI.
function(requests_differential suite percent)
  set(forms waited)
  if(MPI_CXX_VERSION VERSION_GREATER_EQUAL 4)
    list(APPEND forms started)
  endif()
  foreach(form IN LISTS forms)
    string(REPLACE waited nonblocking reported ${form})
    string(REPLACE started persistent reported ${reported})
    set(name requests_${form}_${suite})
    interpose_program(interpose_${name} $<TARGET_OBJECTS:tutti_mpi_main> ${suite}_test.cpp ${ARGN})
    target_include_directories(interpose_${name} PRIVATE ${form})
    interpose_run(${name} interpose_${name} ${percent} RANKS 1 2 3 4
                  ENVIRONMENT OMPI_MCA_coll=^tuned,han,adapt REPORTED_FORM=${reported})
  endforeach()
endfunction()

requests_differential(movement 100 shapes.cpp)
requests_differential(uneven 100 shapes.cpp)
requests_differential(odd_arguments 100)
requests_differential(large_data 100 numbers.cpp)
if(MPI_CXX_VERSION VERSION_LESS 4)
  # Passed calls of MPICH 4.0 hang or end the program where an operation is not for a type, or find no error at all.
  requests_differential(reductions 40 numbers.cpp)
  requests_differential(errors 0)
endif()

# requests_suite(NAME MIN_SERVED_PERCENT FORM SOURCES...): of gtest. Of the calls in that form so many percent are served.
function(requests_suite name percent form)
  cmake_parse_arguments(arg "" "" "RANKS" ${ARGN})
  set(program interpose_requests_${name})
  interpose_program(${program} $<TARGET_OBJECTS:tutti_mpi_main> ${arg_UNPARSED_ARGUMENTS})
  interpose_run(requests_${name} ${program} ${percent} RANKS ${arg_RANKS} ENVIRONMENT REPORTED_FORM=${form})
endfunction()

# User's operations and inter-communicators are passed, so that there are requests of both kinds.
requests_suite(mixes 60 nonblocking requests_mixes_test.cpp mix.cpp RANKS 1 2 3 4)
requests_suite(errors 100 nonblocking requests_errors_test.cpp RANKS 2)
requests_suite(lifetimes 100 nonblocking requests_lifetimes_test.cpp RANKS 1 2 3 4)
if(MPI_CXX_VERSION VERSION_GREATER_EQUAL 4)
  requests_suite(persistent 100 persistent requests_persistent_test.cpp RANKS 1 2 3 4)
  interpose_program(interpose_persistent_contexts $<TARGET_OBJECTS:tutti_mpi_main>
                    persistent_contexts_test.cpp)
  interpose_run(persistent_contexts interpose_persistent_contexts 95 RANKS 2
                ENVIRONMENT TUTTI_TEST_TAG_UB=32767 REPORTED_FORM=persistent)
endif()

# At each level of threads that a program may ask for.
requests_suite(progress 75 nonblocking requests_progress_test.cpp RANKS 2 3 4)
foreach(level single funneled)
  interpose_run(requests_progress_${level} interpose_requests_progress 75 RANKS 2 3
                ENVIRONMENT REPORTED_FORM=nonblocking TUTTI_TEST_THREAD_LEVEL=${level})
endforeach()
