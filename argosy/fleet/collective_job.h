#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "argosy/base/rank_info.h"
#include "argosy/base/settings.h"
#include "argosy/collective/data_parallel.h"
#include "argosy/collective/group.h"
#include "argosy/fleet/util.h"

namespace argosy::fleet {

// One process's part in a collective job: its place there, the group of all processes once it has met them, and the models that
// it trains with them. What needs the other processes is given one; the functions of collective.h use that of this process.
// Throws argosy::Error. Thread-compatible.
class CollectiveJob {
 public:
  CollectiveJob() = default;
  CollectiveJob(const CollectiveJob&) = delete;

  // Where this process is from now on; it leaves the job that it was in. Waits for nobody.
  void announce(RankInfo place, Settings settings);
  // All processes of the job; the first call waits for them. An error before announce().
  const std::shared_ptr<collective::Group>& world();
  bool met() const { return world_ != nullptr; }  // whether world() would wait for nobody
  bool leave();                                   // false: it had met nobody

  void add_model(const std::shared_ptr<collective::DataParallel>& model) { models_.push_back(model); }
  std::vector<std::shared_ptr<collective::DataParallel>> models() const;  // those that live

 private:
  std::optional<std::pair<RankInfo, Settings>> announced_;  // where world_ is not there yet
  std::shared_ptr<collective::Group> world_;
  std::vector<std::weak_ptr<collective::DataParallel>> models_;
};

// How the processes of a job talk with each other. The job outlives it, and a call before world() meets.
std::shared_ptr<const JobPeers> peers_of(CollectiveJob& job);
// The same of a process that is alone.
std::shared_ptr<const JobPeers> no_peers();

}  // namespace argosy::fleet
