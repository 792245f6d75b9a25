# The code in README.md and algorithms/README.md is built and run, so that it stays true.

set(example ${CMAKE_CURRENT_BINARY_DIR}/allreduce_linear.cpp)
tutti_code_block(${PROJECT_SOURCE_DIR}/algorithms/README.md ${example})
tutti_test(catalogue_test catalogue_test.cpp ${example})
target_compile_definitions(apps_units PRIVATE TUTTI_CATALOGUE="${PROJECT_SOURCE_DIR}/algorithms/README.md")
tutti_test(readme_test readme_test.cpp)
target_compile_definitions(apps_units PRIVATE TUTTI_README="${PROJECT_SOURCE_DIR}/README.md"
                                               TUTTI_EXAMPLES="${PROJECT_SOURCE_DIR}/examples"
                                               TUTTI_PROJECT_VERSION="${PROJECT_VERSION}")

# What the shared library exports. Sanitizers are for the project's own programs only.
if(NOT TUTTI_SANITIZE)
  add_test(NAME symbols_test COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/symbols_test.sh ${PROJECT_SOURCE_DIR}
                                     $<TARGET_FILE:tutti_shared> $<$<BOOL:${TUTTI_MPI}>:mpi>)
  set_tests_properties(symbols_test PROPERTIES LABELS product)
endif()

if(TUTTI_MPI)
  # readme_test compares it with the page.
  tutti_program(readme_program ${PROJECT_SOURCE_DIR}/examples/cpp/first.cpp)
  target_link_libraries(readme_program PRIVATE Tutti::tutti)
  add_dependencies(mpi_tests readme_program)
  add_test(NAME environment_cli_test COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/environment_cli_test.sh ${MPIEXEC_EXECUTABLE}
                                             $<TARGET_FILE:readme_program>)
  set_tests_properties(environment_cli_test PROPERTIES TIMEOUT 300 PROCESSORS 2 LABELS mpi)
  if(TUTTI_APPS AND NOT TUTTI_SANITIZE)
    add_dependencies(mpi_tests tutti_mpi)
    add_test(NAME run_cli_test COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/run_cli_test.sh $<TARGET_FILE:tutti_tool>
                                       $<TARGET_FILE:tutti_mpi> ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:readme_program>)
    set_tests_properties(run_cli_test PROPERTIES TIMEOUT 300 PROCESSORS 2 LABELS mpi)
  endif()
  if(TUTTI_APPS)
    set(page ${PROJECT_SOURCE_DIR}/docs/bits-record.md)
    tutti_code_block(${page} ${CMAKE_CURRENT_BINARY_DIR}/bits_page_program.cpp)
    tutti_program(bits_page_program ${CMAKE_CURRENT_BINARY_DIR}/bits_page_program.cpp)
    target_link_libraries(bits_page_program PRIVATE Tutti::tutti)
    add_dependencies(mpi_tests bits_page_program)
    add_test(NAME bits_page_test COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bits_page_test.sh ${page} $<TARGET_FILE:tutti_tool>
                                         ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:bits_page_program>)
    set_tests_properties(bits_page_test PROPERTIES TIMEOUT 300 PROCESSORS 2 LABELS mpi SKIP_REGULAR_EXPRESSION "SKIP:")
  endif()
  foreach(ranks 1 2 4)
    if(ranks LESS_EQUAL TUTTI_TEST_MAX_RANKS)
      tutti_mpirun_test(readme_program.p${ranks} ${ranks} $<TARGET_FILE:readme_program>)
      set_tests_properties(readme_program.p${ranks} PROPERTIES
                           PASS_REGULAR_EXPRESSION "${ranks} ranks, sum ${ranks}\n" FAIL_REGULAR_EXPRESSION "[eE]rror|ERROR|signal")
    endif()
  endforeach()
endif()
