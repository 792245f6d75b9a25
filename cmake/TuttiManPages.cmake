# The manual pages of the apps, a page for each command of the tool. A test compares the commands with those that there are.

# tutti_man_page(PAGE TARGET SUMMARY [COMMAND]): section 1. Without a summary it is the one that the tool has of the command.
function(tutti_man_page page target summary)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/man/${page}.1)
  set(script ${PROJECT_SOURCE_DIR}/cmake/man_page.sh)
  add_custom_command(OUTPUT ${file} DEPENDS ${target} ${script} COMMENT "Manual page ${page}(1)" VERBATIM
    COMMAND ${script} ${TUTTI_HELP2MAN} ${file} ${PROJECT_VERSION} $<TARGET_FILE:${target}> "${summary}" ${ARGN})
  set(pages ${pages} ${file} PARENT_SCOPE)
endfunction()

set(pages)
tutti_man_page(tutti tutti_tool "shows, proves and prices the algorithms of collectives")
foreach(command list show verify cost simulate import export choose rules tune info run ps trace bits plot)
  tutti_man_page(tutti-${command} tutti_tool "" ${command})
endforeach()
if(TUTTI_MPI)
  tutti_man_page(tutti-bench tutti-bench "measures collectives")
  tutti_man_page(tutti-sgd tutti-sgd "trains a small neural network, as an example of collectives at work")
  tutti_man_page(tutti-soak tutti-soak "checks random calls for a given time, and watches memory and descriptors")
endif()
add_custom_target(tutti_man ALL DEPENDS ${pages})
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
