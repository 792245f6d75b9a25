# What some calls do over plain MPI and with the library preloaded, compared.
file(GLOB verdicts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/verdicts/*.cpp)
interpose_program(interpose_verdicts ${verdicts})
set_target_properties(interpose_verdicts PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)

set(themes datatypes overlaps errors truncation nonblocking handles operations user_operations communicators attributes
           neighbours)
if(MPI_CXX_VERSION VERSION_GREATER_EQUAL 4)
  list(APPEND themes persistent)
endif()
foreach(theme IN LISTS themes)
  foreach(ranks RANGE 1 4)
    if(ranks LESS_EQUAL TUTTI_TEST_MAX_RANKS)
      set(test interpose_verdicts_${theme}.p${ranks})
      add_test(NAME ${test}
               COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/verdicts_test.sh ${MPIEXEC_EXECUTABLE} ${ranks} $<TARGET_FILE:tutti_mpi>
                       $<TARGET_FILE:interpose_verdicts> ${theme})
      set_tests_properties(${test} PROPERTIES TIMEOUT 300 PROCESSORS ${ranks} LABELS mpi)
      tutti_tier_of_ranks(${test} ${ranks})
    endif()
  endforeach()
endforeach()
