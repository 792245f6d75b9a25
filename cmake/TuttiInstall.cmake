# cmake --install: libraries, headers, apps, and a package for find_package(Tutti).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

if(TUTTI_APPS)
  install(TARGETS tutti_tool)
endif()
if(TUTTI_APPS AND TUTTI_MPI)
  install(TARGETS tutti-bench tutti-sgd)
endif()
# Tutti::schedule is an archive, which links no MPI, beside a static Tutti::tutti, and another name of a shared one: no
# program shall have two copies of the library.
get_target_property(type tutti TYPE)
set(schedule tutti_schedule)
if(type STREQUAL "SHARED_LIBRARY")
  set(schedule tutti_schedule_name)
  add_library(${schedule} INTERFACE)
  target_link_libraries(${schedule} INTERFACE tutti)
endif()
set_target_properties(${schedule} PROPERTIES EXPORT_NAME schedule)
set(installed tutti ${schedule})

install(TARGETS ${installed} EXPORT TuttiTargets)
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT TuttiTargets NAMESPACE Tutti:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)

# The packages whose targets the installed libraries link, one find_dependency() each: a package that nothing of it links
# is not asked for.
set(linked)
foreach(library IN LISTS installed)
  get_target_property(libraries ${library} INTERFACE_LINK_LIBRARIES)
  list(APPEND linked ${libraries})
endforeach()
set(TUTTI_DEPENDENCIES)
if(linked MATCHES "fmt::")
  string(APPEND TUTTI_DEPENDENCIES "find_dependency(fmt)\n")
endif()
if(linked MATCHES "MPI::")
  string(APPEND TUTTI_DEPENDENCIES "set(MPI_CXX_SKIP_MPICXX ON)\nfind_dependency(MPI COMPONENTS CXX)\n")
endif()
configure_package_config_file(cmake/TuttiConfig.cmake.in TuttiConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)
write_basic_package_version_file(TuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TuttiConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/TuttiConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)
