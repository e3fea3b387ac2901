// groups/atomic_folder.h — folders that are replaced whole or not at all: files that belong together, such as a config
// and the weights that it describes, never stand beside a stranger's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace krohn {

/// Makes `path` a folder with these files (names and contents). They are written into a hidden folder beside it,
/// flushed to the disk, and the two folders change places in one step. Whenever the process is killed, `path` is the
/// old folder or the new one. Of an old folder the files named in `outdated` go, those that are written anew are
/// replaced, and everything else is kept. A symbolic link is followed; folders above `path` are made. File systems that
/// cannot exchange two folders have the old one renamed to PATH.krohn-old and the new one to PATH: a kill between the
/// two leaves both, whole. Throws SystemError, also when `path` is or contains the folder in which this process works,
/// which would be left in a folder without a name.
void write_folder(const std::string& path, std::span<const std::pair<std::string, std::string>> files,
                  const std::vector<std::string_view>& outdated = {});

}  // namespace krohn
