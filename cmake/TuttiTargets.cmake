# How every target of the project is compiled.

# Settings for our own code only; not part of what users of the library see.
add_library(tutti_settings INTERFACE)
if(PROJECT_IS_TOP_LEVEL OR TUTTI_WERROR)
  target_compile_options(tutti_settings INTERFACE -Wall -Wextra -Wpedantic $<$<BOOL:${TUTTI_WERROR}>:-Werror>)
endif()
if(TUTTI_SANITIZE)
  target_compile_options(tutti_settings INTERFACE -fsanitize=${TUTTI_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_link_options(tutti_settings INTERFACE -fsanitize=${TUTTI_SANITIZE})
endif()
if(TUTTI_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TUTTI_FUZZERS=ON needs clang, whose libFuzzer they use: set CMAKE_CXX_COMPILER=clang++")
  endif()
  # They see which branches an input takes.
  target_compile_options(tutti_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()

# tutti_library(NAME): a part, the static library tutti_NAME with alias Tutti::NAME; sources are added by target_sources.
# Its objects fit into a shared library, where only TUTTI_API is visible (tutti/export.hpp).
function(tutti_library name)
  add_library(tutti_${name} STATIC)
  add_library(Tutti::${name} ALIAS tutti_${name})
  target_compile_features(tutti_${name} PUBLIC cxx_std_20)
  target_link_libraries(tutti_${name} PRIVATE $<BUILD_INTERFACE:tutti_settings>)
  target_include_directories(tutti_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                           PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(tutti_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                                   VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# tutti_program(NAME SOURCES...): an executable with the same settings.
function(tutti_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE tutti_settings)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()
