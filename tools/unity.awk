# tools/unity.awk — which source files may be compiled as one, for KROHN_UNITY (see CMakeLists.txt).
#
#   awk -v limit=LINES -f tools/unity.awk HEADER… SOURCE…      prints "GROUP SOURCE", a line for each grouped source
#
# Files of one room go together, at most `limit` lines, unless they would give one name two meanings: two files that
# define the same name for themselves (in an unnamed namespace), or one whose own name is also a header's. Files of the
# second kind are compiled alone, and not printed. It relies on the layout that clang-format gives: what a namespace
# holds begins in the first column.

function defined_name(line,    name) {
  sub(/^(template *<.*> *|inline |static |constexpr |const |KROHN_HOST_DEVICE |\[\[[a-z_]+\]\] )+/, "", line)
  if (match(line, /^(class|struct|enum class|enum|union|using) +(alignas\([^)]*\) +)?[A-Za-z_0-9]+/)) {
    name = substr(line, RSTART, RLENGTH)
    sub(/.*[^A-Za-z_0-9]/, "", name)
    return name
  }
  sub(/(\(|=|\{|\[|;).*/, "", line)  # a function or an object: the last word before its brackets
  sub(/ +$/, "", line)
  return match(line, /[ *&>][A-Za-z_0-9]+$/) ? substr(line, RSTART + 1) : ""
}

function own_name(file, name) {
  if (!index(names[file], " " name " ")) names[file] = names[file] " " name " "
}

FNR == 1 {
  unnamed = 0
  is_source = FILENAME ~ /\.cpp$/
  if (is_source) sources[++source_count] = FILENAME
}
is_source { lines[FILENAME]++ }
/^namespace \{/ { unnamed = 1; next }
/^\}  \/\/ namespace$/ { unnamed = 0; next }
# Constants may share a line: kTop = 20, kLeft = 70.
is_source && unnamed && /[, ]k[A-Z][A-Za-z0-9_]* = / {
  rest = $0
  while (match(rest, /[, ]k[A-Z][A-Za-z0-9_]* = /)) {
    own_name(FILENAME, substr(rest, RSTART + 1, RLENGTH - 4))
    rest = substr(rest, RSTART + RLENGTH)
  }
}
# What a using declaration or an alias of a namespace says may be said twice.
/^[a-z_A-Z[]/ && !/^(namespace|using [^=]*;)/ {
  if (is_source && !unnamed && !/^(static|using) /) next
  name = defined_name($0)
  if (name == "") next
  if (!is_source) in_headers[name] = 1
  else own_name(FILENAME, name)
}

function room_of(file) { sub(/\/[^\/]*$/, "", file); return file }

function clashes(file, group,    i, count, own) {
  count = split(names[file], own, " ")
  for (i = 1; i <= count; i++)
    if ((group, own[i]) in taken && taken[group, own[i]]) return 1
  return 0
}

function is_alone(file,    i, count, own) {
  count = split(names[file], own, " ")
  for (i = 1; i <= count; i++)
    if (own[i] in in_headers) return 1
  return 0
}

END {
  for (s = 1; s <= source_count; s++) {
    file = sources[s]
    if (is_alone(file)) continue
    for (group = 1; group <= group_count; group++)
      if (room[group] == room_of(file) && size[group] + lines[file] <= limit && !clashes(file, group)) break
    if (group > group_count) room[++group_count] = room_of(file)
    size[group] += lines[file]
    count = split(names[file], own, " ")
    for (i = 1; i <= count; i++) taken[group, own[i]] = 1
    print group, file
  }
}
