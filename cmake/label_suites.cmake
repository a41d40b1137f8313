# Writes FILE: a CTest script that adds the label "full" to the cases of EXECUTABLE that are in the suite "full" or "unsanitized",
# and to the latter the label "unsanitized" as well. CTest keeps the label "quick" beside it, so the preset quick excludes "full".
set(script "")
foreach(suite full unsanitized)
  execute_process(
    COMMAND "${EXECUTABLE}" --test-suite=${suite} --list-test-cases
    OUTPUT_VARIABLE listed RESULT_VARIABLE status WORKING_DIRECTORY "${FOLDER}")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${EXECUTABLE} --list-test-cases failed:\n${listed}")
  endif()
  if(suite STREQUAL "full")
    set(labels full)
  else()
    set(labels "full;unsanitized")
  endif()
  string(REPLACE "\n" ";" lines "${listed}")
  foreach(line IN LISTS lines)
    if(NOT line MATCHES "^(=+|\\[doctest\\].*|)$")
      string(APPEND script "set_tests_properties([==[${line}]==] PROPERTIES LABELS [==[${labels}]==])\n")
    endif()
  endforeach()
endforeach()
file(WRITE "${FILE}" "${script}")
