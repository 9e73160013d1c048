#pragma once

#include <string>

#include "argosy/base/status.h"
#include "argosy/launch/command/command_options.h"

// A job as a file of YAML, which is the same wherever the job runs: the launcher's options under their names without dashes, and
// what is run under `program`, a script or a list of words.
//
//   program: [train.py, --epochs, 3]
//   server_num: 2
//   worker_num: 4
//   directory: /data/ctr
//   kubernetes: {image: registry.example/ctr:7}     for --to_kubernetes, see kubernetes/manifests.h
namespace argosy::launch {

// Whether what is run is such a file: its name ends in .yaml or .yml, and it stands where a script would.
inline bool is_job_file(const TrainingProgram& program) {
  if (program.command.empty() || program.kind != TrainingProgram::Kind::script) return false;
  return program.command[0].ends_with(".yaml") || program.command[0].ends_with(".yml");
}

// Puts what the file says into `line`. An option of the command line wins over the file's; words behind the file's name are added
// to its program. A key that there is not is an error with its line and the nearest one. REQUIRES: is_job_file(line.program).
Status read_job_file(CommandLine& line);

// The file of a job as `line` has it. Like read_job_file `unimplemented` in a build without yaml-cpp.
Result<std::string> job_file_text(const CommandLine& line);

}  // namespace argosy::launch
