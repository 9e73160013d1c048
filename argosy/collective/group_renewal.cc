// How a group survives the loss of a rank. The launcher calls a generation (collective/generations.h): what is under way is
// ended, the survivors and the newcomer meet at one of them, and the same Group object goes on with other connections.
//
// A newcomer may need long, a Python its imports: so all say in the store that they are here, for as long as a collective may
// take, before anybody connects, which is to be a matter of moments. A wait in the store is cut into slices, because the
// rank that hosts it, or another, may be lost meanwhile, and a newer generation be called.
#include <ATen/ATen.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include "argosy/base/clock.h"
#include "argosy/base/socket.h"
#include "argosy/base/wait_check.h"
#include "argosy/collective/generations.h"
#include "argosy/collective/group.h"
#include "argosy/collective/group_shared.h"
#include "argosy/collective/guard.h"
#include "argosy/collective/store.h"

namespace argosy::collective {
namespace {

constexpr auto kHereSlice = std::chrono::milliseconds(200);
constexpr auto kConnect = std::chrono::milliseconds(10'000);  // of those who were all here a moment ago
constexpr auto kNoWait = std::chrono::milliseconds(1);
constexpr int kNobodySends = 0x7ffffff0;  // a tag

}  // namespace

Generations* Group::generations() const { return shared_->generations.get(); }

void Group::be_current() {
  const MutexLock lock(shared_->current_mutex);
  shared_->current = c10d_;
}

void Group::survive() {
  shared_->generations = std::make_unique<Generations>([this_group = shared_.get()] { close_current(*this_group); });
}

Status Group::check_met(const std::string& what) const {
  if (generation_ > 0) return {};
  return Status::failed_precondition(
      "{}: rank {} was started again in the place of one that was lost, and copies its model from the others where they train "
      "(train_steps); with on_rank_loss=survive a script makes no collective calls before that",
      what, rank_);
}

std::chrono::milliseconds Group::timeout() const { return shared_->timeout; }

bool Group::has_failed() const { return shared_->failed; }

void Group::close() const { close_current(*shared_); }

// Gloo takes a wait for a message that timed out for the end of all its connections: who waits here gets an error, and so do
// those who wait for this rank. One connection that still stands is enough.
void close_current(GroupShared& shared) {
  c10::intrusive_ptr<c10d::ProcessGroup> group;
  {
    const MutexLock lock(shared.current_mutex);
    group = shared.current;
  }
  for (int other = 0; group && other < group->getSize(); ++other) {
    if (other == group->getRank()) continue;
    std::vector<at::Tensor> tensors{at::zeros({1})};
    c10::intrusive_ptr<c10d::Work> work;
    if (!guarded([&] { work = group->recv(tensors, other, kNobodySends); }).ok()) continue;
    static_cast<void>(guarded([&] { work->wait(kNoWait); }));
  }
}

Result<c10::intrusive_ptr<c10d::Store>> Group::open_generation(const Generation& generation) {
  const Deadline deadline = Deadline::after(shared_->timeout);
  c10::intrusive_ptr<c10d::Store> store;
  if (generation.host == rank_) {
    ASSIGN_OR_RETURN(Fd listener, listen_at({.host = shared_->host, .port = 0}));
    ASSIGN_OR_RETURN(const Address address, local_address(listener));
    ASSIGN_OR_RETURN(store, open_tcp_store(address, std::move(listener), shared_->timeout));
    RETURN_IF_ERROR(Generations::say(fmt::format("host {} {}", generation.number, address.to_string())));
  } else {
    ASSIGN_OR_RETURN(const std::string text, generations()->await_address(generation.number, deadline));
    ASSIGN_OR_RETURN(const Address address, Address::parse(text));
    ASSIGN_OR_RETURN(store, open_tcp_store(address, Fd(), kConnect));
  }
  const std::string prefix = fmt::format("argosy/{}/generation/{}", shared_->place.restart, generation.number);
  return c10::intrusive_ptr<c10d::Store>(c10::make_intrusive<c10d::PrefixStore>(prefix, store));
}

Status Group::wait_for_all(c10d::Store& store, int generation) {
  std::vector<std::string> all;
  for (int member = 0; member < size(); ++member) all.push_back(fmt::format("here/{}", member));
  RETURN_IF_ERROR(guarded([&] { store.set(all[static_cast<size_t>(rank_)], std::string("1")); }));
  const Deadline deadline = Deadline::after(shared_->timeout);
  for (;;) {
    const Status status = guarded([&] { store.wait(all, kHereSlice); });
    if (status.code() != Code::deadline_exceeded) return status;
    if (generations()->wanted() != generation) return Status::aborted("another rank was lost meanwhile");
    if (wait_cancelled()) return Status::cancelled("the meeting was cancelled while it waited for the others");
    if (deadline.passed()) return status;
  }
}

Status Group::meet_again(const Generation& generation) {
  close();
  c10d_.reset();
  be_current();
  generation_ = 0;
  ASSIGN_OR_RETURN(shared_->store, open_generation(generation));
  RETURN_IF_ERROR(wait_for_all(*shared_->store, generation.number));
  RETURN_IF_ERROR(connect("world", kConnect));
  c10d_->getBackend(c10::kCPU)->setTimeout(shared_->timeout);
  calls_ = 0;  // as a newcomer's
  generation_ = generation.number;
  shared_->failed = false;
  be_current();
  // Lost while they connected: nobody else closes what was not there yet.
  if (generations()->wanted() != generation.number) return Status::aborted("another rank was lost meanwhile");
  return {};
}

}  // namespace argosy::collective
