# The command that tools/quickstart builds: it proves, and says where training and devices are when asked for them.
execute_process(COMMAND ${KROHN} compile "regex:(a|b)*abb" -o ${FOLDER}/first.safetensors OUTPUT_QUIET
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${KROHN} verify ${FOLDER}/first.safetensors OUTPUT_VARIABLE verdict COMMAND_ERROR_IS_FATAL ANY)
if(NOT verdict MATCHES "proved for words of every length")
  message(FATAL_ERROR "verify said ${verdict}")
endif()
foreach(verb "train;parity;--steps;10" "train;--help" eval "extract;x" "compare;--json;x" "snap;x" "table" "audit;x" "probe" "kit;-o;x")
  execute_process(COMMAND ${KROHN} ${verb} RESULT_VARIABLE status OUTPUT_VARIABLE printed ERROR_VARIABLE said)
  if(NOT status EQUAL 2 OR printed OR NOT said MATCHES "cmake --build build")
    message(FATAL_ERROR "krohn ${verb} ended with ${status}: ${printed}${said}")
  endif()
endforeach()
# It writes checkpoints, and reads none.
execute_process(COMMAND ${KROHN} compile "regex:(a|b)*abb" --target fla-deltanet -o ${FOLDER}/first-checkpoint OUTPUT_QUIET
  COMMAND_ERROR_IS_FATAL ANY)
foreach(verb "verify;${FOLDER}/first-checkpoint" "run;${FOLDER}/first-checkpoint;abb")
  execute_process(COMMAND ${KROHN} ${verb} RESULT_VARIABLE status OUTPUT_VARIABLE printed ERROR_VARIABLE said)
  if(NOT status EQUAL 2 OR printed OR NOT said MATCHES "cmake --build build")
    message(FATAL_ERROR "krohn ${verb} ended with ${status}: ${printed}${said}")
  endif()
endforeach()
# The processor serves whoever does not insist on a device.
execute_process(COMMAND ${KROHN} run "regex:(a|b)*abb" abb --device auto OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${KROHN} verify ${FOLDER}/first.safetensors --device cuda RESULT_VARIABLE status
  OUTPUT_VARIABLE printed ERROR_VARIABLE said)
if(NOT status EQUAL 2 OR printed OR NOT said MATCHES "cmake --build build")
  message(FATAL_ERROR "krohn verify --device cuda ended with ${status}: ${printed}${said}")
endif()
