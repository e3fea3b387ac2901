file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# A header that names a file of the source tree works here and fails at the user's.
file(GLOB_RECURSE headers ${PREFIX}/include/krohn/*.h ${PREFIX}/include/krohn/*.cuh)
list(LENGTH headers count)
if(count LESS 20)
  message(FATAL_ERROR "only ${count} headers were installed")
endif()
foreach(needed bin/krohn share/bash-completion/completions/krohn share/zsh/site-functions/_krohn)
  if(NOT EXISTS ${PREFIX}/${needed})
    message(FATAL_ERROR "${needed} was not installed")
  endif()
endforeach()
