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

# The parts that move data are optimised most (tutti_moves_data). The others run once a communicator, a plan or a report.
target_compile_options(tutti_settings INTERFACE $<$<AND:$<CONFIG:Release>,$<NOT:$<BOOL:$<TARGET_PROPERTY:TUTTI_MOVES_DATA>>>>:-O2>)

# Headers that most sources include are parsed once for all targets that are compiled alike: precompiled. A source has to
# include what it uses all the same, as CMAKE_DISABLE_PRECOMPILE_HEADERS=ON compiles without them.
set(standard_headers <algorithm> <array> <bit> <cstdint> <functional> <map> <memory> <numeric> <optional> <ranges> <span>
                     <string> <string_view> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)

# tutti_precompile(TARGET OWNER [HEADERS...]): the headers of OWNER, which has these beside the standard ones.
function(tutti_precompile target owner)
  if(target STREQUAL owner)
    list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>" OUTPUT_VARIABLE own)
    list(TRANSFORM standard_headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>" OUTPUT_VARIABLE standard)
    target_precompile_headers(${target} PRIVATE ${standard} ${own})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

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
  tutti_compiled_for_libraries(tutti_${name})
endfunction()

# tutti_compiled_for_libraries(TARGET): as all of them, so that they share the precompiled headers.
function(tutti_compiled_for_libraries target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                             VISIBILITY_INLINES_HIDDEN ON
                                             UNITY_BUILD ${TUTTI_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 10)
endfunction()

# tutti_moves_data(PARTS...): optimised most.
function(tutti_moves_data)
  list(TRANSFORM ARGN PREPEND tutti_ OUTPUT_VARIABLE parts)
  set_target_properties(${parts} PROPERTIES TUTTI_MOVES_DATA ON)
endfunction()

# tutti_alone(SOURCES...): never together with other sources in one unit (TUTTI_UNITY_BUILD), as they have names in common.
function(tutti_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# tutti_program(NAME SOURCES...): an executable with the same settings.
function(tutti_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE tutti_settings)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()
