# Writes PAGE, the manual page of the command KROHN, from its own help: the first page, then one section a verb.
function(help_of help_page)
  execute_process(COMMAND ${KROHN} ${ARGN} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
  set(${help_page} "${help}" PARENT_SCOPE)
endfunction()

# As it stands, in roff: no escapes, no requests.
function(as_roff variable)
  string(REPLACE "\\" "\\e" roff "${${variable}}")
  string(REPLACE "-" "\\-" roff "${roff}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" roff "${roff}")
  set(${variable} ".nf\n${roff}\n.fi\n" PARENT_SCOPE)
endfunction()

help_of(first)
string(REGEX MATCHALL "\n  [a-z]+  +[A-Z]" verbs "${first}")
as_roff(first)
set(page ".TH KROHN 1 \"\" \"krohn ${VERSION}\"\n.SH NAME\nkrohn \\- regular languages as exact weights of linear \
recurrent networks, with proofs\n.SH SYNOPSIS\n${first}")
foreach(verb ${verbs})
  string(REGEX REPLACE "\n  ([a-z]+) .*" "\\1" verb "${verb}")
  help_of(text ${verb})
  as_roff(text)
  string(TOUPPER ${verb} title)
  string(APPEND page ".SH ${title}\n${text}")
endforeach()
file(WRITE ${PAGE} "${page}")
