#include "argosy/launch/servers/job_token.h"

#include "argosy/base/settings.h"

namespace argosy::launch {

Status give_token(ServerJob& job, const TrainingProgram& program) {
  if (!program.setting("ARGOSY_TOKEN").empty()) return {};
  if (job.is_whole) {
    const std::string token = draw_token();
    for (auto* processes : {&job.servers, &job.workers}) {
      for (ProcessSpec& process : *processes) process.environment["ARGOSY_TOKEN"] = token;
    }
    return {};
  }
  const bool tls = !program.setting("ARGOSY_TLS").empty() || !program.setting("ARGOSY_TLS_CERTIFICATE").empty() ||
                   !program.setting("ARGOSY_TLS_CA").empty();
  if (tls || program.setting("ARGOSY_SECURITY") != "required") return {};
  return Status::failed_precondition(
      "ARGOSY_SECURITY=required, and this launcher starts only a part of the job: give all launchers the same ARGOSY_TOKEN, or "
      "certificates (ARGOSY_TLS)");
}

}  // namespace argosy::launch
