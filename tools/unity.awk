# tools/unity.awk — which source files may be compiled as one, for KROHN_UNITY (see CMakeLists.txt).
#
#   awk -v limit=LINES -v root=FOLDER -f tools/unity.awk HEADER… SOURCE…      prints "GROUP SOURCE", a line for each source
#
# Neighbours go together, at most `limit` lines (a longer file stands alone), unless that would give one name two meanings:
# two files that define the same name for themselves (in an unnamed namespace); one that defines for itself what a header
# of the group declares; or two headers that declare it, one of them in a namespace within krohn, which any file may use, or
# one of the tests', which may have a function of their own beside a library's. A file that defines for itself another meaning
# of a name that its own headers declare stands alone: in a group it could take its neighbours' calls. Headers are found under the root, with or without the prefix krohn/. It relies on the layout that
# clang-format gives: what a namespace holds begins in the first column.

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

# Of a header, `space` is the namespace within krohn that it is in, or "", and of one of the tests' the file.
function add_name(file, name) {
  if (!is_source && space != "any" && !index(spaced[file] " ", " " space ":" name " ")) spaced[file] = spaced[file] " " space ":" name
  if (!index(names[file] " ", " " name " ")) names[file] = names[file] " " name
}

FNR == 1 {
  unnamed = nested = in_text = 0
  is_test = index(FILENAME, root "/tests/") == 1
  space = is_test ? FILENAME : ""
  is_source = FILENAME ~ /\.cpp$/
  if (is_source) sources[++source_count] = FILENAME
}
{ lines[FILENAME]++ }
/^#include "/ {
  split($0, quoted, "\"")
  sub(/^krohn\//, "", quoted[2])
  included[FILENAME] = included[FILENAME] " " root "/" quoted[2]
}
# Texts that begin in the first column are no names, and what a namespace within krohn holds is called by both.
in_text { if (/\)"/) in_text = 0; next }
/R"\(/ && !/\)"/ { in_text = 1 }
/^namespace \{/ { unnamed = 1; next }
/^\}  \/\/ namespace$/ { unnamed = 0; next }
/^namespace [a-z_]+ \{/ && !/^namespace krohn/ { nested = 1 }
/^\}  \/\/ namespace [a-z_]+$/ { nested = 0 }
nested && !is_source { next }
# A namespace within krohn is a name, too.
/^namespace krohn::[a-z_]+ \{/ && !is_source {
  name = $2
  sub(/.*::/, "", name)
  space = ""
  add_name(FILENAME, name)
  # Names in krohn::test are made for use beside all of krohn's.
  space = name == "test" ? "any" : is_test ? FILENAME : name
}
# Constants may share a line: kTop = 20, kLeft = 70.
is_source && unnamed && /[, ]k[A-Z][A-Za-z0-9_]* = / {
  rest = $0
  while (match(rest, /[, ]k[A-Z][A-Za-z0-9_]* = /)) {
    add_name(FILENAME, substr(rest, RSTART + 1, RLENGTH - 4))
    rest = substr(rest, RSTART + RLENGTH)
  }
}
# What a using declaration or an alias of a namespace says may be said twice.
/^[a-z_A-Z[]/ && !/^(namespace|using [^=]*;)/ {
  if (is_source && !unnamed && !/^(static|using) /) next
  name = defined_name($0)
  if (name != "") add_name(FILENAME, name)
}

# Adds what `file` includes, at any remove, to reached[of, …], and the names of those headers to header_names[of].
function reach(of, file,    i, count, each) {
  count = split(included[file], each, " ")
  for (i = 1; i <= count; i++)
    if (!((of, each[i]) in reached)) {
      reached[of, each[i]] = 1
      header_names[of] = header_names[of] names[each[i]]
      spaced_names[of] = spaced_names[of] spaced[each[i]]
      reach(of, each[i])
    }
}

function any_in(list, table, key,    i, count, each) {
  count = split(list, each, " ")
  for (i = 1; i <= count; i++)
    if ((key, each[i]) in table) return 1
  return 0
}

# Whether headers of the group declare one of these "SPACE:NAME" in another namespace.
function is_elsewhere(list, group,    i, count, each, part) {
  count = split(list, each, " ")
  for (i = 1; i <= count; i++) {
    split(each[i], part, ":")
    if (((group, part[2]) in spaces) && spaces[group, part[2]] != part[1] " ") return 1
  }
  return 0
}

function put_spaces(list, group,    i, count, each, part) {
  count = split(list, each, " ")
  for (i = 1; i <= count; i++) {
    split(each[i], part, ":")
    if (!((group, part[2]) in spaces)) spaces[group, part[2]] = part[1] " "
    else if (spaces[group, part[2]] != part[1] " ") spaces[group, part[2]] = spaces[group, part[2]] part[1] " "
  }
}

function put_in(list, table, key,    i, count, each) {
  count = split(list, each, " ")
  for (i = 1; i <= count; i++) table[key, each[i]] = 1
}

END {
  for (s = 1; s <= source_count; s++) {
    file = sources[s]
    reach(file, file)
    put_in(header_names[file], declared, "of a file " file)
    overloads = any_in(names[file], declared, "of a file " file)
    for (group = 1; group <= group_count; group++)
      if (!overloads && !closed[group] && size[group] + lines[file] <= limit && !any_in(names[file], own, group) &&
          !any_in(names[file], declared, group) && !any_in(header_names[file], own, group) &&
          !is_elsewhere(spaced_names[file], group)) break
    if (group > group_count) group_count = group
    closed[group] = overloads
    size[group] += lines[file]
    put_in(names[file], own, group)
    put_in(header_names[file], declared, group)
    put_spaces(spaced_names[file], group)
    print group, file
  }
}
