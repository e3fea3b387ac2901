# What tools/unity.awk puts together, and what it keeps apart.
file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/room/shape.h "namespace krohn {\nstruct Shape {};\nnamespace inner {\nstruct Depth {};\n}  // namespace inner\n}  // namespace krohn\n")
file(WRITE ${FOLDER}/room/hall.h "namespace krohn::hall {\nint far();\n}  // namespace krohn::hall\n")
file(WRITE ${FOLDER}/room/wing.h "namespace krohn::wing {\nstruct Shape {};\n}  // namespace krohn::wing\n")
file(WRITE ${FOLDER}/tests/given.h "namespace krohn {\nint door_of(int n);\n}  // namespace krohn\n")
file(WRITE ${FOLDER}/room/door.h "#include \"krohn/room/shape.h\"\nnamespace krohn {\nint door_of(long n);\n}  // namespace krohn\n")
function(source name own)
  file(WRITE ${FOLDER}/${name}.cpp "${ARGN}namespace krohn {\nnamespace {\n\n${own}\n\n}  // namespace\n\nint ${name}();\n}\n")
endfunction()
source(room/first "constexpr double kLeft = 1, kTop = 2;\nbool is_new(int n) { return n > 0; }")
source(room/second "template <class T>\nstruct Row {};\nconst char* kText = R\"(\nbool is_new\n)\";")
source(room/same_function "bool is_new(long n) {\n  return n > 1;\n}")
source(room/same_constant "constexpr int kBottom = 0, kTop = 3;")
source(room/same_class "class Row final {\n};")
source(room/uses_header "int side = 0;" "#include \"krohn/room/door.h\"\n")
source(room/like_header "using Shape = int;")           # where the header is not included
source(room/like_inner "struct Depth {};" "#include \"krohn/room/shape.h\"\n")
source(room/overload "int Shape(int n) { return n; }" "#include \"krohn/room/door.h\"\n")  # alone
source(room/uses_namespace "int near = 0;" "#include \"krohn/room/hall.h\"\n")
source(room/like_namespace "int hall(int n) { return n; }")  # where the header is not included
source(room/uses_wing "int late = 0;" "#include \"krohn/room/wing.h\"\n")  # another Shape than uses_header's
source(room/uses_given "int high = 0;" "#include \"tests/given.h\"\n")  # another door_of than uses_header's
source(other/neighbour "int lonely = 0;")

set(sources first second same_function same_constant same_class uses_header like_header like_inner overload uses_namespace like_namespace uses_wing uses_given)
list(TRANSFORM sources REPLACE "(.+)" "${FOLDER}/room/\\1.cpp")
list(APPEND sources ${FOLDER}/other/neighbour.cpp)
execute_process(COMMAND ${AWK} -v limit=1500 -v root=${FOLDER} -f ${SCRIPT} ${FOLDER}/room/shape.h ${FOLDER}/room/hall.h
  ${FOLDER}/room/wing.h ${FOLDER}/tests/given.h ${FOLDER}/room/door.h
  ${sources} OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "${FOLDER}/" "" groups "${groups}")
set(expected "1 room/first.cpp\n1 room/second.cpp\n2 room/same_function.cpp\n2 room/same_constant.cpp\n2 room/same_class.cpp\n1 room/uses_header.cpp\n2 room/like_header.cpp\n1 room/like_inner.cpp\n3 room/overload.cpp\n1 room/uses_namespace.cpp\n2 room/like_namespace.cpp\n4 room/uses_wing.cpp\n2 room/uses_given.cpp\n1 other/neighbour.cpp\n")
if(NOT groups STREQUAL expected)
  message(FATAL_ERROR "the groups are\n${groups}instead of\n${expected}")
endif()

# At most `limit` lines: each of these has 9 or 10.
execute_process(COMMAND ${AWK} -v limit=10 -v root=${FOLDER} -f ${SCRIPT} ${sources} OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" groups "${groups}")
list(TRANSFORM groups REPLACE " .*" "")
list(REMOVE_DUPLICATES groups)
list(LENGTH groups count)
if(NOT count EQUAL 14)
  message(FATAL_ERROR "fourteen files of 9 lines and more made ${count} groups of at most 10")
endif()
