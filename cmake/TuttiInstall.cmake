# cmake --install: libraries, headers, apps, and a package for find_package(Tutti).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(installed tutti_schedule tutti_reduce tutti_engine)
if(TUTTI_MPI)
  list(APPEND installed tutti_core tutti)
  if(TUTTI_HAS_UCX)
    list(APPEND installed tutti_ucx)
  endif()
  if(TUTTI_APPS)
    install(TARGETS tutti-bench tutti-sgd)
  endif()
endif()
foreach(library IN LISTS installed)
  string(REGEX REPLACE "^tutti_" "" exported ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${exported})
endforeach()

install(TARGETS ${installed} EXPORT TuttiTargets)
install(DIRECTORY include/tutti DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT TuttiTargets NAMESPACE Tutti:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)
configure_package_config_file(cmake/TuttiConfig.cmake.in TuttiConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)
write_basic_package_version_file(TuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TuttiConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/TuttiConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)
