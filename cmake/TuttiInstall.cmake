# cmake --install: libraries, headers, apps with their manual pages and completions, and what finds them: a package for
# find_package(Tutti), and one for pkg-config.
include(CMakePackageConfigHelpers)

set(libraries tutti_shared tutti_static tutti_schedule)
if(TARGET tutti_offline)
  list(APPEND libraries tutti_offline)
endif()
set(programs)
if(TUTTI_APPS)
  list(APPEND programs tutti_tool)
endif()
if(TUTTI_APPS AND TUTTI_MPI)
  list(APPEND programs tutti-bench tutti-sgd tutti-soak)
endif()
if(TARGET tutti_mpi)
  list(APPEND programs tutti_mpi) # is preloaded, not linked
endif()
# What is installed, to be built without the rest.
add_custom_target(tutti_product)
add_dependencies(tutti_product ${libraries} ${programs} tutti_proof_library)
if(TARGET tutti_fortran)
  add_dependencies(tutti_product tutti_fortran)
endif()

set_target_properties(tutti_schedule PROPERTIES EXPORT_NAME schedule_static)
if(TARGET tutti_offline)
  set_target_properties(tutti_offline PROPERTIES EXPORT_NAME offline)
endif()
install(TARGETS ${libraries} EXPORT TuttiTargets)
install(TARGETS tutti_proof_library LIBRARY NAMELINK_SKIP)
if(programs)
  install(TARGETS ${programs})
endif()
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Pages for people, examples and batch jobs lie as in the sources, so that pages find each other.
set(doc_folder ${CMAKE_INSTALL_DATADIR}/doc/tutti)
install(FILES LICENSE cmake/copyright CHANGELOG.md README.md DESTINATION ${doc_folder})
install(FILES algorithms/README.md DESTINATION ${doc_folder}/algorithms)
install(DIRECTORY docs examples etc DESTINATION ${doc_folder} PATTERN __pycache__ EXCLUDE)
install(DIRECTORY slurm DESTINATION ${doc_folder} FILES_MATCHING PATTERN *.sbatch PATTERN lab EXCLUDE)
install(CODE "set(doc_folder [[${doc_folder}]])\nset(include_folder [[${CMAKE_INSTALL_INCLUDEDIR}]])")
install(SCRIPT cmake/TuttiInstalledLinks.cmake)

# ---- find_package(Tutti) ----------------------------------------------------------------------------------------------

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)
set(TUTTI_MPI_KIND)
set(TUTTI_HAS_MPI ${TUTTI_MPI})
if(TUTTI_MPI)
  include(TuttiMpiKind)
  tutti_mpi_kind(TUTTI_MPI_KIND CXX)
endif()
configure_package_config_file(cmake/TuttiConfig.cmake.in TuttiConfig.cmake INSTALL_DESTINATION ${package_folder}
                              NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(TuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT TuttiTargets NAMESPACE Tutti:: DESTINATION ${package_folder})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TuttiConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/TuttiConfigVersion.cmake
              cmake/TuttiMpiKind.cmake DESTINATION ${package_folder})

# ---- pkg-config -------------------------------------------------------------------------------------------------------

# tutti_pkg_config(NAME FLAGS): NAME.pc, for compilers that take the flags.
function(tutti_pkg_config name flags)
  set(TUTTI_PC_NAME ${name})
  set(TUTTI_PC_FLAGS "${flags}")
  set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH TUTTI_PC_PREFIX /prefix/${folder} /prefix)
  string(REGEX REPLACE "/$" "" TUTTI_PC_PREFIX ${TUTTI_PC_PREFIX})
  set(TUTTI_PC_PRIVATE -lfmt -lstdc++ -lm) # the last two for linkers of C
  if(TUTTI_HAS_UCX OR TUTTI_HAS_CUDA)
    list(APPEND TUTTI_PC_PRIVATE -ldl)
  endif()
  if(TUTTI_HAS_UCX)
    list(APPEND TUTTI_PC_PRIVATE -Wl,--undefined=tutti_ucx_component)
  endif()
  list(JOIN TUTTI_PC_PRIVATE " " TUTTI_PC_PRIVATE)
  configure_file(cmake/tutti.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${folder})
endfunction()

# The old C++ bindings of MPI need a library of their own. The definitions of tutti_core tell mpi.h which ABI is meant.
set(flags)
if(TUTTI_MPI)
  set(flags " -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX")
  get_target_property(definitions tutti_core INTERFACE_COMPILE_DEFINITIONS)
  foreach(definition IN LISTS definitions)
    if(definition)
      string(APPEND flags " -D${definition}")
    endif()
  endforeach()
endif()
tutti_pkg_config(tutti "${flags} -std=c++20")
tutti_pkg_config(tutti-c "${flags}")

# ---- for people -------------------------------------------------------------------------------------------------------

if(TUTTI_HAS_MAN)
  include(TuttiManPages)
  add_dependencies(tutti_product tutti_man)
endif()
if(TUTTI_APPS)
  foreach(program IN LISTS programs)
    if(NOT program STREQUAL "tutti_mpi")
      install(FILES apps/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
              RENAME $<TARGET_FILE_NAME:${program}>)
    endif()
  endforeach()
endif()
