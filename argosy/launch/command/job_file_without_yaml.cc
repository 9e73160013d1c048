// Files of jobs in a build without yaml-cpp.
#include "argosy/launch/command/job_file.h"

namespace argosy::launch {
namespace {

Status no_yaml() {
  return Status::unimplemented(
      "this launcher was built without yaml-cpp, which files of jobs need; give the options on the command line");
}

}  // namespace

Status read_job_file(CommandLine&) { return no_yaml(); }

Result<std::string> job_file_text(const CommandLine&) { return no_yaml(); }

}  // namespace argosy::launch
