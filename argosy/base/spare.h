#pragma once

#include <map>
#include <string>

#include "argosy/base/status.h"

namespace argosy {

// A spare process of a collective job: it runs the script as a rank does, up to where the script first asks which rank it is, and
// waits there until the launcher says whose place it takes. So a lost rank is replaced without the time that a program takes to
// start.

// The process's side: whether it is a spare (ARGOSY_SPARE), and has not taken a place yet.
bool is_spare();
// Waits for the launcher's word; then the environment is that of the rank, and output goes to the rank's log. Without a deadline:
// to wait is what a spare is for, and it ends with its launcher. REQUIRES: is_spare(); no other thread reads the environment.
Status take_place();
// The variables that take_place() has set, for those who keep the environment elsewhere (Python). Empty: it was no spare.
const std::map<std::string, std::string>& variables_of_place();

// The launcher's side: the word by which a spare with these variables gets those of a rank, and its log, an absolute path.
std::string word_of_place(const std::map<std::string, std::string>& spare, const std::map<std::string, std::string>& rank,
                          const std::string& log);

}  // namespace argosy
