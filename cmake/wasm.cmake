# assay_wasm(TARGET OUTPUT SOURCES ...)
#
# Compiles sources with clang for WebAssembly and links them to a module without imports: no system, no exceptions, no
# run-time types. ASSAY_WASM_MISSING says what is not installed; where it is not empty, the function must not be called.
find_program(ASSAY_WASM_CXX clang++-14)
find_program(ASSAY_WASM_LD wasm-ld-14)
set(ASSAY_WASM_MISSING "")
if(NOT ASSAY_WASM_CXX)
  list(APPEND ASSAY_WASM_MISSING clang-14)
endif()
if(NOT ASSAY_WASM_LD)
  list(APPEND ASSAY_WASM_MISSING lld-14)
endif()
if(NOT EXISTS /usr/lib/wasm32-wasi/libc.a)
  list(APPEND ASSAY_WASM_MISSING wasi-libc)
endif()
if(NOT EXISTS /usr/lib/wasm32-wasi/libc++.a)
  list(APPEND ASSAY_WASM_MISSING libc++-14-dev-wasm32)
endif()
if(NOT EXISTS /usr/lib/wasm32-wasi/libc++abi.a)
  list(APPEND ASSAY_WASM_MISSING libc++abi-14-dev-wasm32)
endif()
if(NOT EXISTS /usr/lib/llvm-14/lib/clang/14.0.6/lib/wasi/libclang_rt.builtins-wasm32.a)
  list(APPEND ASSAY_WASM_MISSING libclang-rt-14-dev-wasm32)
endif()

list(JOIN ASSAY_WASM_MISSING " " ASSAY_WASM_MISSING)

# NUM-2's -ffp-contract=off as in module.cmake. Link-time optimisation for size takes a fifth off the module. libc++ 14 has
# no order of vectors, so that one defaulted comparison is deleted, which nothing uses here.
set(ASSAY_WASM_FLAGS --target=wasm32-wasi -std=c++20 -Oz -flto -ffp-contract=off -fno-exceptions -fno-rtti
  -fno-threadsafe-statics -fvisibility=hidden -Wall -Wextra -Werror -Wno-defaulted-function-deleted)

function(assay_wasm target output)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  set(objects "")
  foreach(source ${ARG_SOURCES})
    string(REPLACE "/" "_" name ${source})
    set(object ${CMAKE_BINARY_DIR}/web/objects/${target}/${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${ASSAY_WASM_CXX} ${ASSAY_WASM_FLAGS} -I${CMAKE_SOURCE_DIR} -MD -MF ${object}.d
        -c ${CMAKE_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${CMAKE_SOURCE_DIR}/${source} DEPFILE ${object}.d VERBATIM
      COMMENT "Compiling ${source} for WebAssembly")
    list(APPEND objects ${object})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/web/objects/${target})
  # A stack that overflows ends below address 0, where it traps, and not in data. The linker writes the numbers of functions
  # and addresses in as few bytes as they need, which takes a twelfth off the module.
  add_custom_command(OUTPUT ${output}
    COMMAND ${ASSAY_WASM_CXX} --target=wasm32-wasi -mexec-model=reactor -flto -Oz -Wl,--strip-all -Wl,--compress-relocations
      -Wl,-z,stack-size=262144 -Wl,--stack-first -o ${output} ${objects}
    DEPENDS ${objects} VERBATIM COMMENT "Linking ${output}")
  add_custom_target(${target} ALL DEPENDS ${output})
endfunction()
