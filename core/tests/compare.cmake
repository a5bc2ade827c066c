# Runs PROGRAM (by EMULATOR, if there is one), whose output must be the text of the file EXPECTED.
execute_process(COMMAND ${EMULATOR} ${PROGRAM} OUTPUT_VARIABLE found RESULT_VARIABLE code)
file(READ ${EXPECTED} expected)
string(REPLACE "\r\n" "\n" found "${found}")
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} failed: ${code}")
elseif(NOT found STREQUAL expected)
  message(FATAL_ERROR "digests differ from ${EXPECTED}; found:\n${found}")
endif()
