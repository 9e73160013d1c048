#include "argosy/base/mutex.h"
#include "argosy/base/plant.h"
#include "argosy/ps/spec/job_spec_wire.h"
#include "argosy/ps/state/state.h"

namespace argosy::ps {
namespace {

void put(const Membership::Worker& worker, wire::StateImage::Worker* out) {
  out->set_phase(static_cast<uint32_t>(worker.phase));
  out->set_incarnation(worker.incarnation);
  out->set_process_id(worker.process_id);
  out->set_process(worker.process);
  if (!ARGOSY_PLANTED("snapshot_without_windows")) *out->mutable_window() = to_wire(worker.window);
  for (const uint64_t batch : worker.given_up) out->add_given_up(batch);
}

Result<Membership::Worker> worker_from(const wire::StateImage::Worker& in) {
  if (in.phase() > static_cast<uint32_t>(Membership::Phase::done)) {
    return Status::data_loss("a worker is in phase {}, which does not exist", in.phase());
  }
  return Membership::Worker{
      static_cast<Membership::Phase>(in.phase()),  in.incarnation(), in.process_id(), in.process(), from_wire(in.window()),
      {in.given_up().begin(), in.given_up().end()}};
}

void put(const SyncSteps& sync, wire::StateImage* out) {
  const SyncSteps::Saved saved = sync.save();
  *out->mutable_position() = to_wire(saved.position);
  *out->mutable_last_step() = to_wire(saved.last_step);
  out->mutable_last_norms()->Assign(saved.last_norms.begin(), saved.last_norms.end());
  for (const auto& [who, steps] : saved.left) {
    wire::StateImage::Left* left = out->add_left();
    left->set_worker(who.first);
    left->set_round(who.second);
    left->set_steps(steps);
  }
}

}  // namespace

wire::StateImage State::image() const {
  wire::StateImage image;
  image.set_job(job_);
  *image.mutable_spec() = to_wire(spec());
  image.set_servers(static_cast<uint32_t>(tables_->servers()));
  image.set_server(static_cast<uint32_t>(tables_->server()));
  image.set_batches(batches_);
  image.set_pushes(pushes_);
  image.set_steps(steps_);
  for (int i = 0; i < members_->workers(); ++i) put(members_->worker(i), image.add_workers());
  put(sync_, &image);
  for (size_t i = 0; i < tables_->size(); ++i) {
    const auto number = static_cast<uint32_t>(i);
    if (const auto rate = tables_->set_rate_of(i)) (*image.mutable_rates())[number] = *rate;
    if (tables_->left_out(i) > 0) (*image.mutable_nonfinite())[number] = tables_->left_out(i);
  }
  for (int i = 0; i < members_->workers(); ++i) *image.add_ledgers() = members_->ledger(i);
  gatherings_.save(image.mutable_exchange());
  file_lists_.save(image.mutable_exchange());
  mailboxes_.save(image.mutable_exchange());
  delta_base_.save(&image);
  operations_.save(image.mutable_operations());
  image.set_importing(importing_);
  for (const wire::Loaded& one : loaded_) *image.add_loaded() = one;
  image.set_version(version_);
  return image;
}

StateCut State::cut() const {
  StateCut cut{.head = image(), .held = {}, .messages = mailboxes_.messages(), .changed = {}};
  for (const auto& [step, contributions] : sync_.held()) {
    for (const auto& [worker, contribution] : contributions) {
      cut.held.push_back({contribution.record, contribution.payload, contribution.owner});
    }
  }
  for (size_t i = 0; i < tables_->size(); ++i) {
    if (!tables_->is_sparse(i) || !spec().tables[i].geo) continue;
    for (auto& pending : tables_->sparse(i).changes().pending()) {
      cut.changed.push_back({static_cast<uint32_t>(i), std::move(pending)});
    }
  }
  return cut;
}

Status State::restore(const wire::StateImage& image) {
  if (image.workers_size() != members_->workers()) {
    return Status::data_loss("the image has {} workers; its job has {}", image.workers_size(), members_->workers());
  }
  for (int i = 0; i < members_->workers(); ++i) {
    ASSIGN_OR_RETURN(const auto worker, worker_from(image.workers(i)));
    members_->restore(i, worker);
  }
  SyncSteps::Saved saved{
      from_wire(image.position()), from_wire(image.last_step()), {image.last_norms().begin(), image.last_norms().end()}, {}};
  for (const auto& left : image.left()) saved.left[{left.worker(), left.round()}] = left.steps();
  {
    const MutexLock lock(mutex_);
    sync_.restore(saved);
  }
  for (const auto& held : image.held()) {
    const auto bytes = std::as_bytes(std::span(held.payload()));
    RETURN_IF_ERROR(apply({.method = wire::PUSH, .header = held.header(), .payload = bytes}));
  }
  std::map<uint32_t, std::map<uint32_t, std::vector<uint64_t>>> changed;  // by table and worker
  for (const auto& in : image.changed()) {  // a worker's keys may come in several pieces
    RETURN_IF_ERROR(tables_->check_sparse(in.table()));
    auto& keys = changed[in.table()][in.worker()];
    keys.insert(keys.end(), in.keys().begin(), in.keys().end());
  }
  for (size_t i = 0; i < tables_->size(); ++i) {
    if (tables_->is_sparse(i) && !follows_) tables_->sparse(i).changes().restore(std::move(changed[static_cast<uint32_t>(i)]));
  }
  for (size_t i = 0; i < tables_->size(); ++i) {
    const auto rate = image.rates().find(static_cast<uint32_t>(i));
    tables_->set_rate(i, rate == image.rates().end() ? std::nullopt : std::optional<float>(rate->second));
    const auto left_out = image.nonfinite().find(static_cast<uint32_t>(i));  // those of held pushes too
    tables_->set_left_out(i, left_out == image.nonfinite().end() ? 0 : left_out->second);
  }
  // After the held pushes, which are counted in it.
  for (int i = 0; i < members_->workers(); ++i) members_->restore_ledger(i, {});
  for (const wire::WorkerLedger& ledger : image.ledgers()) {
    RETURN_IF_ERROR(check_worker(ledger.worker()));
    members_->restore_ledger(static_cast<int>(ledger.worker()), ledger);
  }
  const MutexLock lock(mutex_);
  RETURN_IF_ERROR(gatherings_.restore(image.exchange()));
  RETURN_IF_ERROR(file_lists_.restore(image.exchange()));
  if (!follows_) RETURN_IF_ERROR(mailboxes_.restore(image.exchange()));
  delta_base_.restore(image);
  RETURN_IF_ERROR(operations_.restore(image.operations()));
  importing_ = image.importing();
  loaded_.assign(image.loaded().begin(), image.loaded().end());
  last_loaded_ = loaded_.empty() ? 0 : loaded_.back().id();
  batches_ = image.batches();
  pushes_ = image.pushes();
  steps_ = image.steps();
  version_ = image.version();
  publish_position();
  return {};
}

Status State::begin_again() {
  const wire::StateImage old_image = [this] {
    const MutexLock lock(mutex_);
    return image();
  }();
  wire::StateImage fresh;
  for (const auto& worker : old_image.workers()) fresh.add_workers()->set_incarnation(worker.incarnation());
  *fresh.mutable_rates() = old_image.rates();
  *fresh.mutable_saved() = old_image.saved();
  fresh.set_shrinks(old_image.shrinks());
  fresh.set_batches(old_image.batches());
  fresh.set_pushes(old_image.pushes());
  fresh.set_steps(old_image.steps());
  fresh.set_version(old_image.version());
  return restore(fresh);
}

}  // namespace argosy::ps
