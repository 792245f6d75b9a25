# The library that programs link, twice, of the objects of the parts, so that each file is compiled once, whatever is made
# of it: Tutti::tutti_shared and Tutti::tutti_static. Tutti::tutti is the one that BUILD_SHARED_LIBS asks for. Without MPI
# it has schedules, algorithms and arithmetic.
set(parts schedule files reduce records selection engine)
if(TUTTI_MPI)
  list(APPEND parts shm nics core)
endif()
if(TUTTI_HAS_UCX)
  list(APPEND parts ucx)
endif()

# tutti_product(LINKAGE): shared or static.
function(tutti_product linkage)
  set(library tutti_${linkage})
  string(TOUPPER ${linkage} type)
  add_library(${library} ${type})
  add_library(Tutti::${library} ALIAS ${library})
  foreach(part IN LISTS parts)
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:tutti_${part}>)
  endforeach()
  target_link_libraries(${library} PRIVATE fmt::fmt $<BUILD_INTERFACE:tutti_settings>)
  if(TUTTI_MPI)
    target_link_libraries(${library} PUBLIC MPI::MPI_CXX)
    get_target_property(definitions tutti_core INTERFACE_COMPILE_DEFINITIONS)
    if(definitions)
      target_compile_definitions(${library} PUBLIC ${definitions})
    endif()
  endif()
  if(TUTTI_HAS_UCX OR TUTTI_HAS_CUDA)
    target_link_libraries(${library} PRIVATE ${CMAKE_DL_LIBS})
  endif()
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${library} PROPERTIES OUTPUT_NAME tutti LINKER_LANGUAGE CXX)
  tutti_linkage(${library} ${linkage})
endfunction()

# tutti_linkage(LIBRARY LINKAGE): CMake refuses a program that links libraries of differing linkage, as it would have two
# copies of Tutti.
function(tutti_linkage library linkage)
  set_target_properties(${library} PROPERTIES INTERFACE_TUTTI_LINKAGE ${linkage}
                                              COMPATIBLE_INTERFACE_STRING TUTTI_LINKAGE)
endfunction()

tutti_product(shared)
# Until 1.0.0 every minor version may change the interface.
set(map ${CMAKE_CURRENT_LIST_DIR}/tutti.map)
set_target_properties(tutti_shared PROPERTIES VERSION ${PROJECT_VERSION} LINK_DEPENDS ${map}
                                              SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_options(tutti_shared PRIVATE LINKER:--version-script=${map})

tutti_product(static)
if(TUTTI_HAS_UCX)
  # The transport registers itself: nothing refers to its object in the archive.
  target_link_options(tutti_static INTERFACE LINKER:--undefined=tutti_ucx_component)
endif()
# An archive of the schedule part alone, for programs without MPI.
tutti_linkage(tutti_schedule static)

if(BUILD_SHARED_LIBS)
  add_library(Tutti::tutti ALIAS tutti_shared)
else()
  add_library(Tutti::tutti ALIAS tutti_static)
endif()
