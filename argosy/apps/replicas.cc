#include "argosy/apps/replicas.h"

#include <algorithm>
#include <string>

#include "argosy/base/log.h"
#include "argosy/base/run_id.h"
#include "argosy/base/settings.h"
#include "argosy/ps/arbiter/arbiter.h"
#include "argosy/rpc/security_settings.h"

namespace argosy::apps {
namespace {

class Replicas final : public launch::ReplicaWatch {
 public:
  explicit Replicas(std::unique_ptr<ps::Arbiter> arbiter) : arbiter_(std::move(arbiter)) {}

  void ended(int server, bool follower) override { arbiter_->ended(server, follower); }
  void gone(int server, bool follower) override { arbiter_->gone(server, follower); }
  void finished(int server) override { arbiter_->finished(server); }
  bool has_led(int server) const override { return arbiter_->has_led(server); }
  void conclude() override { arbiter_->conclude(); }
  std::string not_told() const override { return arbiter_->not_told(); }
  std::string lost() const override { return arbiter_->lost().message(); }

 private:
  const std::unique_ptr<ps::Arbiter> arbiter_;
};

}  // namespace

Result<std::unique_ptr<launch::ReplicaWatch>> watch_replicas(const launch::ServerJob& job) {
  const bool here = std::ranges::any_of(job.workers, [](const launch::ProcessSpec& worker) { return worker.name == "worker 0"; });
  if (job.all_followers.empty() || !here) return std::unique_ptr<launch::ReplicaWatch>();
  ASSIGN_OR_RETURN(const Settings settings, Settings::from_environment());
  rpc::Security security = rpc::security_of(settings);
  const auto& environment = job.workers.front().environment;
  const auto token = environment.find("ARGOSY_TOKEN");  // drawn for the job
  if (token != environment.end()) security.token = token->second;
  const auto name = environment.find("ARGOSY_JOB");  // a script may say another one, where the command line says none
  const std::string own = settings.given("job") ? settings.text("job") : "";
  ASSIGN_OR_RETURN(auto arbiter, ps::Arbiter::start({.servers = job.all_servers,
                                                     .followers = job.all_followers,
                                                     .job = name != environment.end() ? name->second : own,
                                                     .run = known_run_id(job.run),
                                                     .security = security,
                                                     .tell = [](const std::string& line) { log_info("{}", line); }}));
  return std::unique_ptr<launch::ReplicaWatch>(std::make_unique<Replicas>(std::move(arbiter)));
}

}  // namespace argosy::apps
