# assay_module(NAME SOURCES ... [DEPENDS ...] [PRIVATE_DEPENDS ...] [PURE])
#
# One archive per folder, with the project's warnings and the project root as the only include path. PURE marks code
# that validators must agree on: tools/checks holds it to its own include list.
add_library(assay_options INTERFACE)
target_include_directories(assay_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(assay_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wmissing-declarations -Wdouble-promotion -Werror
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op>
  # g++ 12 reports these falsely for inlined std::vector code at -O2.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>
  # NUM-2: never contract a*b+c into a fused multiply-add.
  -ffp-contract=off)
if(ASSAY_REPRODUCIBLE)
  # What names its own file, as generated messages do, must not tell where it was built. The last map that fits is the one
  # that counts.
  set(ASSAY_PREFIX_MAPS -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=./build)
  target_compile_options(assay_options INTERFACE ${ASSAY_PREFIX_MAPS})
endif()
if(CMAKE_UNITY_BUILD)
  # g++ takes every file that a unity source includes for a header.
  target_compile_options(assay_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(ASSAY_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "ASSAY_FUZZ needs clang: cmake --preset fuzz")
  endif()
  set(ASSAY_SANITIZE address,undefined)
  target_compile_options(assay_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(ASSAY_SANITIZE STREQUAL "thread")
  # Asio's fences are not modelled; what it fences is also locked.
  target_compile_options(assay_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
endif()
if(ASSAY_SANITIZE)
  target_compile_options(assay_options INTERFACE -fsanitize=${ASSAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(assay_options INTERFACE -fsanitize=${ASSAY_SANITIZE})
  # A quarter of the time in which g++ compiles with these sanitizers goes into two checks of each access: of null pointers, at which a program
  # ends anyway, and of alignment. The fuzz targets, which clang compiles, have both.
  target_compile_options(assay_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fno-sanitize=null,alignment>)
  # With sanitizers g++ falsely reports members of optionals, as its manual says it may.
  target_compile_options(assay_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

function(assay_module name)
  cmake_parse_arguments(ARG "PURE" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(assay_${name} STATIC ${ARG_SOURCES})
  add_library(assay::${name} ALIAS assay_${name})
  target_link_libraries(assay_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS} $<BUILD_INTERFACE:assay_options>)
  target_include_directories(assay_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  if(ARG_PURE)
    set_property(GLOBAL APPEND PROPERTY ASSAY_PURE_MODULES assay_${name})
  endif()
endfunction()

# assay_executable(NAME SOURCES ... DEPENDS ... [INSTALL COMPONENT]): an executable in build/<preset>/bin, which the package
# assay-COMPONENT installs (packaging/).
function(assay_executable name)
  cmake_parse_arguments(ARG "" "INSTALL" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} assay_options)
  if(ARG_INSTALL)
    install(TARGETS ${name} RUNTIME COMPONENT ${ARG_INSTALL})
  endif()
endfunction()

# assay_test(NAME SOURCES ... DEPENDS ... [LABELS ...]): a doctest executable whose cases become CTest tests. They are quick
# unless LABELS says otherwise; of quick ones, cases in the suite "full" are not, since each takes more than a second. Those in the
# suite "unsanitized" are like them, and run with the release build only: they compute for long and read nobody's bytes.
function(assay_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES} $<TARGET_OBJECTS:assay_test_main>)
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} assay_options doctest::doctest)
  # A third less to compile. What is tested has -O2 all the same.
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  # What hangs is stopped; how fast a busy machine is, no test says.
  if(ARG_LABELS)
    doctest_discover_tests(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 900)
  else()
    doctest_discover_tests(${name} PROPERTIES LABELS quick TIMEOUT 900)
    set(labels ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
    add_custom_command(TARGET ${name} POST_BUILD BYPRODUCTS ${labels} VERBATIM
      COMMAND ${CMAKE_COMMAND} -D EXECUTABLE=$<TARGET_FILE:${name}> -D FILE=${labels} -D FOLDER=${CMAKE_CURRENT_BINARY_DIR}
        -P ${CMAKE_SOURCE_DIR}/cmake/label_suites.cmake)
    if(NOT EXISTS ${labels})
      file(WRITE ${labels} "")  # CTest reads it whether the test is built or not
    endif()
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels})
  endif()
endfunction()

# assay_site(VARIABLE HEADER ... NAMESPACE ... FILES target=path ... [DEPENDS ...]): sets VARIABLE to a C++ file with the
# files of a site, each as what a request for `target` gets. HEADER declares its site_files() in NAMESPACE.
function(assay_site variable)
  cmake_parse_arguments(ARG "" "HEADER;NAMESPACE" "FILES;DEPENDS" ${ARGN})
  list(JOIN ARG_FILES "\n" text)
  set(list_file ${CMAKE_CURRENT_BINARY_DIR}/site_files.txt)
  file(CONFIGURE OUTPUT ${list_file} CONTENT "${text}\n" @ONLY)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/site_files.cpp)
  add_custom_command(OUTPUT ${embedded} BYPRODUCTS ${embedded}.json VERBATIM
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${embedded} -D LIST=${list_file} -D HEADER=${ARG_HEADER} -D NAMESPACE=${ARG_NAMESPACE}
      -P ${CMAKE_SOURCE_DIR}/cmake/embed_site.cmake
    DEPENDS ${CMAKE_SOURCE_DIR}/cmake/embed_site.cmake ${list_file} ${ARG_DEPENDS}
    COMMENT "Embedding the site of ${ARG_NAMESPACE}")
  # A change of the site compiles nothing else.
  set_source_files_properties(${embedded} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(${variable} ${embedded} PARENT_SCOPE)
endfunction()
