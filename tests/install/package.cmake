# Makes the package, unpacks it into an empty root, and runs the command there.
find_program(DPKG_DEB dpkg-deb)
find_program(SHLIBDEPS dpkg-shlibdeps)
if(NOT DPKG_DEB OR NOT SHLIBDEPS)
  message("skipped: no dpkg here")
  return()
endif()
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${CPACK} -G DEB -B ${FOLDER} --config ${BUILD}/CPackConfig.cmake
  WORKING_DIRECTORY ${FOLDER} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(GLOB package ${FOLDER}/krohn_${VERSION}_*.deb)
if(NOT package)
  message(FATAL_ERROR "cpack made no krohn_${VERSION}_ARCHITECTURE.deb in ${FOLDER}")
endif()

execute_process(COMMAND ${DPKG_DEB} -c ${package} OUTPUT_VARIABLE content COMMAND_ERROR_IS_FATAL ANY)
foreach(needed bin/krohn share/man/man1/krohn.1 share/bash-completion/completions/krohn
    share/zsh/site-functions/_krohn share/fish/vendor_completions.d/krohn.fish include/krohn/krohn.h
    lib/pkgconfig/krohn.pc lib/cmake/krohn/krohnConfig.cmake)
  if(NOT content MATCHES "\\./usr/${needed}\n")
    message(FATAL_ERROR "${package} lacks ${needed}:\n${content}")
  endif()
endforeach()
execute_process(COMMAND ${DPKG_DEB} -f ${package} Depends OUTPUT_VARIABLE depends COMMAND_ERROR_IS_FATAL ANY)
if(NOT depends MATCHES "libc6" OR NOT depends MATCHES "libgvc6|libgvc7")
  message(FATAL_ERROR "the package depends on ${depends}")
endif()

set(root ${FOLDER}/root)
# Unpacked only: the script that tells the loader of shared libraries wants a whole system; they find each other anyhow.
execute_process(COMMAND ${DPKG_DEB} -x ${package} ${root} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${root}/usr/bin/krohn compile "regex:(a|b)*abb" -o ${FOLDER}/abb.safetensors
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${root}/usr/bin/krohn verify ${FOLDER}/abb.safetensors OUTPUT_VARIABLE verdict
  COMMAND_ERROR_IS_FATAL ANY)
if(NOT verdict MATCHES "proved")
  message(FATAL_ERROR "the installed command said ${verdict}")
endif()
