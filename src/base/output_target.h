// Where an output goes that is named by a link.
#pragma once

#include <string>

namespace edgewire {

/// The path of the file that an output named `path` is written to: all links are followed, so the link stays
/// and its target is replaced. A name that leads into /proc (as /dev/fd/5 does) ends there. Throws Error with
/// the path when it is a link whose target is missing, and when another user has put a link into a folder
/// that group or others can write to, sticky or not: whoever prepared it would choose what is written over.
/// In folders that lead to the file, links of root are followed.
std::string output_target(const std::string& path);

}  // namespace edgewire
