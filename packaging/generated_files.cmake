# cmake -D PROGRAM=FILE -D NAME=assayd -D PACKAGE=assay-node -D STAGE=DIR -D CHANGELOG=FILE -P generated_files.cmake
#
# Writes the completions and the manual page that PROGRAM prints, and the compressed changelog, below STAGE.
function(print_to file)
  cmake_path(GET file PARENT_PATH folder)
  file(MAKE_DIRECTORY ${folder})
  # What is printed must not depend on who builds: a home is shown as it is by default.
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ASSAY_HOME=~/.assay LC_ALL=C ${PROGRAM} ${ARGN}
    OUTPUT_FILE ${file} COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD ${file} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()

function(compress file)
  execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD ${file}.gz FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()

print_to(${STAGE}/share/bash-completion/completions/${NAME} completion bash)
print_to(${STAGE}/share/zsh/vendor-completions/_${NAME} completion zsh)
print_to(${STAGE}/share/fish/vendor_completions.d/${NAME}.fish completion fish)
print_to(${STAGE}/share/man/man1/${NAME}.1 manual)
compress(${STAGE}/share/man/man1/${NAME}.1)
file(MAKE_DIRECTORY ${STAGE}/share/doc/${PACKAGE})
configure_file(${CHANGELOG} ${STAGE}/share/doc/${PACKAGE}/changelog.Debian COPYONLY)
compress(${STAGE}/share/doc/${PACKAGE}/changelog.Debian)
# Folders that this script has made have the umask of whoever builds.
file(GLOB_RECURSE folders LIST_DIRECTORIES true ${STAGE}/share/*)
foreach(folder IN LISTS folders ITEMS ${STAGE}/share)
  if(IS_DIRECTORY ${folder})
    file(CHMOD ${folder} DIRECTORY_PERMISSIONS
      OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endif()
endforeach()
