#include "argosy/collective/group.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "argosy/base/address.h"
#include "argosy/base/notice.h"
#include "argosy/base/random.h"
#include "argosy/collective/backend.h"
#include "argosy/collective/describe.h"
#include "argosy/collective/group_shared.h"
#include "argosy/collective/guard.h"
#include "argosy/collective/store.h"

namespace argosy::collective {
namespace {

using BackendType = c10d::ProcessGroup::BackendType;
using std::chrono::milliseconds;

constexpr int kPeerLost = 75;  // EX_TEMPFAIL: the exit status of a process that ends because another one was lost

milliseconds to_milliseconds(double seconds) { return milliseconds(static_cast<int64_t>(seconds * 1000)); }

// The address by which the others know this process, so that two nodes may be two loopback addresses.
std::string own_host(const RankInfo& place) {
  if (place.endpoints.size() == static_cast<size_t>(place.world_size)) {
    if (const auto mine = Address::parse(place.endpoints[place.rank]); mine.ok()) return mine->host;
  }
  if (is_this_machine(place.master_host)) return place.master_host;
  return own_address();
}

c10::Device device_of(const RankInfo& place) {
  if (!place.device.starts_with("gpu")) return c10::kCPU;
  const auto colon = place.device.find(':');
  const int index = colon == std::string::npos ? place.local_rank : std::atoi(place.device.c_str() + colon + 1);
  return {c10::kCUDA, static_cast<c10::DeviceIndex>(index)};
}

// A c10d store asks nobody who they are: one that other machines reach is worth a warning of who hosts it, and is refused where
// the job must not be open.
Status check_open_meeting(const RankInfo& place, const Settings& settings) {
  const bool loopback = place.master_host.starts_with("127.") || place.master_host == "::1" || place.master_host == "localhost";
  if (place.world_size == 1 || loopback) return {};
  if (settings.text("security") == "required") {
    return Status::failed_precondition(
        "ARGOSY_SECURITY=required: the processes of this job meet at {}:{} in a c10d store, which asks nobody who they are; "
        "leave "
        "it out where the network is your own",
        place.master_host, place.master_port);
  }
  if (place.rank == 0) {
    notice(
        LogLevel::warning,
        "the c10d store at {}:{} can be reached from other machines, and asks nobody there who they are: the network should be "
        "your own",
        place.master_host, place.master_port);
  }
  return {};
}

// What can be started again alone, and by whom.
Status check_survival(c10::Device device) {
  if (!device.is_cpu()) {
    return Status::unimplemented(
        "on_rank_loss=survive is for tensors on the CPU, which travel by Gloo; found device {}; leave it out, and the group "
        "starts "
        "again from its checkpoint",
        device.str());
  }
  if (has_launcher()) return {};
  return Status::failed_precondition(
      "on_rank_loss=survive needs the launcher, which starts a lost rank again: start the job by fleetrun, or leave it out");
}

// A peer that dies while it is written to must come back as an error that names it. Gloo writes to its sockets without
// MSG_NOSIGNAL, and by default the signal would end this process without a word. What the program has chosen itself stays.
void ignore_broken_pipes() {
  struct sigaction now{};
  if (::sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

Group::~Group() = default;

Result<std::shared_ptr<Group>> Group::join(const RankInfo& place, const Settings& settings) {
  std::shared_ptr<Group> world(new Group);
  auto shared = std::make_shared<GroupShared>();
  shared->place = place;
  shared->timeout = to_milliseconds(settings.seconds("collective_seconds"));
  shared->check = settings.text("collective_check") == "on";
  shared->gpus_by_gloo = settings.text("collective_backend") == "gloo";
  world->shared_ = shared;
  world->rank_ = place.rank;
  world->ranks_.resize(place.world_size);
  std::iota(world->ranks_.begin(), world->ranks_.end(), 0);
  world->device_ = device_of(place);
  if (place.master_port == 0 && place.world_size == 1) return world;
  RETURN_IF_ERROR(check_open_meeting(place, settings));
  ignore_broken_pipes();
  shared->host = own_host(place);
  const bool survives = settings.text("on_rank_loss") == "survive" && place.world_size > 1;
  if (survives) RETURN_IF_ERROR(check_survival(world->device_));
  if (survives && place.rejoins) {
    world->generation_ = 0;
    world->survive();
    return world;
  }
  ASSIGN_OR_RETURN(shared->store, open_store(place, shared->timeout));
  RETURN_IF_ERROR(world->connect("world"));
  world->be_current();
  if (survives) {
    world->survive();
    return world;
  }
  WatchOptions options{.peer_timeout = to_milliseconds(settings.seconds("peer_seconds"))};
  if (settings.text("on_peer_loss") == "end") {
    options.on_loss = [](const std::string&) {
      // A collective that waits for the lost one cannot be called back; the launcher starts the group again.
      log_error("this process ends, because it cannot go on without the lost one; on_peer_loss=wait lets it wait");
      ::_exit(kPeerLost);
    };
  }
  if (place.world_size > 1) {
    shared->watch = std::make_unique<Watch>(shared->store->clone(), place.rank, place.world_size, std::move(options));
  }
  return world;
}

Status Group::connect(const std::string& name) { return connect(name, shared_->timeout); }

Status Group::connect(const std::string& name, std::chrono::milliseconds meeting_timeout) {
  name_ = name;
  const auto store = c10::make_intrusive<c10d::PrefixStore>(name, shared_->store);
  c10d_ = c10::make_intrusive<c10d::ProcessGroup>(store, rank_, size());
  const auto use = [&](c10::DeviceType type, BackendType kind, const char* prefix, auto make) -> Status {
    const auto own = c10::make_intrusive<c10d::PrefixStore>(prefix, store);
    auto backend = make({own, rank_, size(), shared_->host, meeting_timeout, device_});
    if (!backend.ok()) {
      return explain(backend.status().with_context("{} of {} processes", name_, size()), "the meeting of " + name_);
    }
    c10d_->setBackend(type, kind, *backend);
    return {};
  };
  const bool gloo_alone = device_.is_cpu() || shared_->gpus_by_gloo;
  c10d_->setDefaultBackend(gloo_alone ? BackendType::GLOO : BackendType::NCCL);
  if (gloo_alone) {
    RETURN_IF_ERROR(use(c10::kCPU, BackendType::GLOO, "gloo", make_gloo));
    return device_.is_cpu() ? Status() : use(device_.type(), BackendType::GLOO, "gloo-gpu", make_gloo);
  }
  RETURN_IF_ERROR(use(c10::kCUDA, BackendType::NCCL, "nccl", make_nccl));
  const Status cpu = use(c10::kCPU, BackendType::GLOO, "gloo", make_gloo);  // for tensors and bytes that stay on the CPU
  notes_ = cpu.ok() ? c10::Device(c10::kCPU) : device_;
  return cpu.code() == Code::unimplemented ? Status() : cpu;
}

Result<std::shared_ptr<Group>> Group::subgroup(const std::vector<int>& ranks) {
  if (generations() != nullptr) {
    return Status::unimplemented(
        "a part of the processes makes no group of its own with on_rank_loss=survive: only the group of all meets again; leave "
        "on_rank_loss out, or the group");
  }
  const std::string name = fmt::format("{}/{}[{}]", name_, children_++, fmt::join(ranks, ","));
  RETURN_IF_ERROR(check_agreement("subgroup " + name));
  std::shared_ptr<Group> group(new Group);
  group->shared_ = shared_;
  group->device_ = device_;
  group->ranks_.clear();
  group->rank_ = -1;
  for (const int member : ranks) {
    RETURN_IF_ERROR(check_rank("subgroup", member));
    if (member == rank_) group->rank_ = group->size();
    group->ranks_.push_back(ranks_[member]);
  }
  if (group->rank_ < 0) return std::shared_ptr<Group>();
  if (c10d_) RETURN_IF_ERROR(group->connect(name));
  return group;
}

void Group::leave() {
  shared_->watch = nullptr;
  shared_->generations = nullptr;
}

void Group::doing(const std::string& what) const {
  if (shared_->watch) shared_->watch->doing(what);
}

Status Group::explain(const Status& error, const std::string& what) const {
  if (error.ok()) return error;
  const bool may_be_theirs = error.code() != Code::unimplemented;  // a report takes seconds
  if (generations() != nullptr) {
    shared_->failed = true;
  } else if (may_be_theirs && size() > 1) {
    notice_consequence("another rank");
  }
  const std::string others = shared_->watch && may_be_theirs ? shared_->watch->report() : "";
  return Status(error.code(), fmt::format("rank {} in {}: {}{}", shared_->place.rank, what, error.message(), others));
}

Status Group::check_rank(const std::string& what, int rank) const {
  if (rank >= 0 && rank < size()) return {};
  return Status::invalid_argument("{}: there is no rank {} in {}, whose {} ranks are numbered from 0", what, rank, name_, size());
}

Status Group::run(const std::string& what, const at::Tensor* tensor,
                  const std::function<c10::intrusive_ptr<c10d::Work>()>& start) {
  RETURN_IF_ERROR(check_met(what));
  const std::string call = fmt::format("{} #{} of {}{}", what, ++calls_, name_, tensor ? " with " + describe(*tensor) : "");
  doing(call);
  RETURN_IF_ERROR(check_agreement(call));
  c10::intrusive_ptr<c10d::Work> work;
  const Status started = guarded([&] { work = start(); });
  if (!started.ok()) return explain(started, call);
  RETURN_IF_ERROR(await(*work, call));
  doing("its own work after " + call);
  return {};
}

Status Group::check_agreement(const std::string& call) {
  if (size() == 1 || !shared_->check) return {};
  const auto hash = static_cast<int64_t>(mix64(call));
  std::vector<at::Tensor> mine{at::full({1}, hash, at::TensorOptions(notes_).dtype(at::kLong))};
  std::vector<std::vector<at::Tensor>> all(1);
  for (int other = 0; other < size(); ++other) all[0].push_back(at::empty_like(mine[0]));
  c10::intrusive_ptr<c10d::Work> work;
  const Status started = guarded([&] { work = c10d_->allgather(all, mine); });
  if (!started.ok()) return explain(started, call);
  RETURN_IF_ERROR(await(*work, call));
  const auto agrees = [&](const at::Tensor& other) { return other.item<int64_t>() == hash; };
  if (std::all_of(all[0].begin(), all[0].end(), agrees)) return {};
  ASSIGN_OR_RETURN(const auto calls, gather_bytes(call));
  for (int other = 0; other < size(); ++other) {
    if (calls[other] == call) continue;
    return Status::failed_precondition(
        "the processes of {} do not do the same: rank {} is in {}, and rank {} in {}; every rank must make the same calls in "
        "the same order with tensors of one shape and type",
        name_, ranks_[rank_], call, ranks_[other], calls[other]);
  }
  return {};
}

}  // namespace argosy::collective
