# Writes FILE: a CTest script that adds the label "full" to the cases of EXECUTABLE that are in the suite "full". CTest keeps
# the label "quick" beside it, so the preset quick excludes "full".
execute_process(
  COMMAND "${EXECUTABLE}" --test-suite=full --list-test-cases
  OUTPUT_VARIABLE listed RESULT_VARIABLE status WORKING_DIRECTORY "${FOLDER}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${EXECUTABLE} --list-test-cases failed:\n${listed}")
endif()
string(REPLACE "\n" ";" lines "${listed}")
set(script "")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^(=+|\\[doctest\\].*|)$")
    string(APPEND script "set_tests_properties([==[${line}]==] PROPERTIES LABELS full)\n")
  endif()
endforeach()
file(WRITE "${FILE}" "${script}")
