#include "argosy/ps/communicator/communicator_base.h"

#include <algorithm>

#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/plant.h"
#include "argosy/ps/spec/pass_book.h"

namespace argosy::ps {

CommunicatorBase::CommunicatorBase(const CommunicatorOptions& options, Client& client, Clipper clipper)
    : options_(options), clipper_(std::move(clipper)), client_(client), storage_(client.spec().tables.size()) {}

Status CommunicatorBase::bind_dense(int table, std::span<float> storage) {
  if (table < 0 || static_cast<size_t>(table) >= spec().tables.size()) {
    return Status::invalid_argument("table {} of a job with {} tables", table, spec().tables.size());
  }
  const TableSpec& named = spec().tables[static_cast<size_t>(table)];
  if (named.sparse) return Status::invalid_argument("table '{}' is sparse: its rows stay on the servers", named.name);
  if (storage.size() != named.size) {
    return Status::invalid_argument("table '{}' has {} elements; the storage given has {}", named.name, named.size,
                                    storage.size());
  }
  if (!storage_[static_cast<size_t>(table)].empty())
    return Status::already_exists("table '{}' has its storage already", named.name);
  storage_[static_cast<size_t>(table)] = storage;
  dense_requests_.push_back({.table = table, .values = storage});
  return {};
}

Status CommunicatorBase::check_bound() const {
  for (size_t i = 0; i < spec().tables.size(); ++i) {
    if (!spec().tables[i].sparse && storage_[i].empty()) {
      return Status::failed_precondition("table '{}' has no storage: bind_dense comes before start", spec().tables[i].name);
    }
  }
  return {};
}

Status CommunicatorBase::receive_dense(std::optional<Position> min_step, Deadline deadline) {
  {
    MutexLock lock(receive_mutex_);
    if (!received_.wait_until(lock, deadline.when(), [&]() ARGOSY_REQUIRES(receive_mutex_) { return !receiving_; })) {
      return Status::deadline_exceeded("dense parameters are still being received for another thread");
    }
    receiving_ = true;
  }
  receives_ += 1;
  ReadAt read_at;
  Status status = client_.pull_dense(begin_receive(), min_step, deadline, Numbers::on_wire, &read_at);
  if (status.ok()) reads_.received(std::move(read_at));
  end_receive(status.ok());
  {
    MutexLock lock(receive_mutex_);
    receiving_ = false;
  }
  received_.notify_one();
  return status;
}

Status CommunicatorBase::check_step(const StepGradients& gradients) {
  RETURN_IF_ERROR(failure());
  const auto in_spec = [&](int table) { return table >= 0 && static_cast<size_t>(table) < spec().tables.size(); };
  for (const DenseGradient& gradient : gradients.dense) {
    if (!in_spec(gradient.table) || spec().tables[static_cast<size_t>(gradient.table)].size != gradient.values.size()) {
      return Status::invalid_argument("a gradient of {} values for table {} does not fit the job's spec", gradient.values.size(),
                                      gradient.table);
    }
  }
  for (const RowGradients& rows : gradients.rows) {
    if (!in_spec(rows.table) || !spec().tables[static_cast<size_t>(rows.table)].sparse) {
      return Status::invalid_argument("row gradients for table {}, which is no sparse table of the job", rows.table);
    }
  }
  reads_.computed(gradients.batch_id);
  return {};
}

Status CommunicatorBase::pull_from_servers(std::span<const RowRequest> requests) {
  ReadAt read_at;
  RETURN_IF_ERROR(client_.pull_rows(requests, Numbers::on_wire, &read_at));
  reads_.pulled(read_at);
  return {};
}

Result<bool> CommunicatorBase::begin_round(int threads) {
  if (threads < 1) return Status::invalid_argument("a round of {} threads", threads);
  RETURN_IF_ERROR(resume());
  RETURN_IF_ERROR(failure());
  // Runs that the script has fed itself before are a round of their own: the numbers of both begin at 0.
  if (index_of(next_batch_) != 0 && !skip_finished_round()) RETURN_IF_ERROR(leave_round());
  if (skip_finished_round()) return false;
  reading_.begin();
  in_round_ = true;
  set_threads(threads);
  return true;
}

bool CommunicatorBase::skip_finished_round() {
  if (round() >= client_.first_open_round()) return false;
  next_round();
  return true;
}

void CommunicatorBase::next_round() {
  next_batch_ = batch_id(round() + 1, 0);
  reading_.begin();
  reads_.forget_batches();
  round_changed();
}

BatchId CommunicatorBase::begin_batch() {
  const BatchId batch = next_batch_.fetch_add(1, std::memory_order_relaxed);
  reads_.begun(batch);
  return batch;
}

BatchId CommunicatorBase::begin_batch(uint32_t number, uint32_t samples, std::span<const FileLineRange> lines) {
  const BatchId batch = batch_id(round(), number);
  reading_.add(batch, samples, lines);
  reads_.begun(batch);
  return batch;
}

void CommunicatorBase::drop_batch(BatchId batch) {
  reading_.drop(batch);
  (void)reads_.take(std::span(&batch, 1));
}

Status CommunicatorBase::push_to_all(Push push) {
  const std::vector<BatchLines> lines = reading_.lines(push.batches);
  push.lines = lines;
  const ReadMoments::Moment read = reads_.take(push.batches);
  push.rows_read_at = read.rows;
  push.dense_read_at = read.dense;
  RETURN_IF_ERROR(client_.push(push));
  reading_.pushed(push.batches);
  return {};
}

Status CommunicatorBase::end_round(const ReadCounters& counters) {
  RETURN_IF_ERROR(leave_round(counters));
  in_round_ = false;
  set_threads(1);
  // The round is finished, whatever comes now: an error is that of the next call.
  if (const Status status = keep(refresh()); !status.ok())
    log_warning("pass {} is finished, but parameters could not be received: {}", round() - 1, status.message());
  return {};
}

Status CommunicatorBase::leave_round(const ReadCounters& counters) {
  RETURN_IF_ERROR(failure());
  if (!ARGOSY_PLANTED("flush_forgotten")) RETURN_IF_ERROR(keep(flush()));
  PassReading reading = reading_.finish(index_of(next_batch_));
  reading.lines = counters.lines;
  reading.bad_lines = counters.bad_lines;
  reading.files = counters.files;
  reading.lines_of_lost = counters.lines_of_lost;
  reading.lines_in_parts = counters.lines_in_parts;
  reading.holds_back = std::ranges::any_of(spec().tables, [](const TableSpec& t) { return t.wire_format == WireFormat::int8; });
  reading.begun_again = resumed_round_ == round() ? resumed_ : 0;
  describe_backlog(reading);
  const auto lost = client_.leave(round(), steps_of_round(), &reading);
  RETURN_IF_ERROR(keep(lost.status()));
  if (reading.batches > 0) {
    wire::PassRecord record;
    *record.mutable_ledger() = to_wire(reading);
    record.set_lost_batches(lost->batches);
    record.set_lost_samples(lost->samples);
    log_info("pass {}: {}", round(), summary_of(record).text());
  }
  next_round();
  return {};
}

void CommunicatorBase::abandon_round(const Status& why) {
  if (failure().ok() && why.code() != Code::cancelled) (void)keep(flush());
  client_.abandon(round(), why.message());
  abandoned_ = why;
  in_round_ = false;
  set_threads(1);
}

Status CommunicatorBase::resume() {
  if (!abandoned()) return {};
  if (abandoned_.code() == Code::aborted) return abandoned_;  // another process is this worker now
  RETURN_IF_ERROR(drop_unsent());
  RETURN_IF_ERROR(client_.resume());
  if (client_.first_open_round() < round()) {
    return Status::data_loss(
        "the servers have lost batches of pass {}, which was finished; this is pass {}. Start this worker again: it trains from "
        "there on what is missing",
        client_.first_open_round(), round());
  }
  {
    MutexLock lock(failure_mutex_);
    failure_ = Status();
  }
  abandoned_ = Status();
  next_batch_ = batch_id(round(), 0);
  reading_.begin();
  reads_.forget_batches();
  round_changed();
  resumed_ = resumed_round_ == round() ? resumed_ + 1 : 1;
  resumed_round_ = round();
  return keep(begin_again());
}

Status CommunicatorBase::unfinished() const {
  if (abandoned()) {
    return Status::failed_precondition("pass {} of this worker was not finished: {}", round(), abandoned_.message());
  }
  return failure();
}

Status CommunicatorBase::begin_parallel(int threads) {
  if (threads < 1) return Status::invalid_argument("a parallel section of {} threads", threads);
  set_threads(threads);
  return failure();
}

Status CommunicatorBase::end_parallel() {
  set_threads(1);
  return failure();
}

bool CommunicatorBase::wants(BatchId batch) {
  if (!client_.all_had(batch)) return true;
  skipped_ += 1;
  return false;
}

Status CommunicatorBase::set_rate(int table, std::optional<float> rate) { return client_.set_rate(table, rate); }

Status CommunicatorBase::store_dense(int table, std::span<const float> values) {
  RETURN_IF_ERROR(flush());
  RETURN_IF_ERROR(client_.import_dense(table, values));
  std::ranges::copy(values, storage_[static_cast<size_t>(table)].begin());
  return {};
}

Status CommunicatorBase::store_rows(int table, std::span<const uint64_t> keys, std::span<const float> values) {
  RETURN_IF_ERROR(flush());
  return client_.import_rows(table, keys, values);
}

// After an interruption nobody knows which part of a step was sent, but what the servers hold is whole.
Status CommunicatorBase::refresh() { return interrupted() ? receive_dense({}, patience()) : refresh_all(); }

Status CommunicatorBase::stop() {
  if (stopped_) return failure();
  stopped_ = true;
  Status left = unfinished();
  if (interrupted() || abandoned_.code() == Code::cancelled) {
    log_warning("pass {} of this worker is given up: it was interrupted", round());
    left = Status();
  } else if (left.ok() && !skip_finished_round()) {
    left = leave_round();
  }
  end_threads();
  return left;
}

Status CommunicatorBase::failure() const {
  MutexLock lock(failure_mutex_);
  return failure_;
}

Status CommunicatorBase::keep(Status status) {
  MutexLock lock(failure_mutex_);
  if (!failure_.ok() || status.ok()) return status;
  failure_ = status;
  if (status.code() == Code::cancelled) {
    failure_ = Status::cancelled(
        "this worker was interrupted in the middle of a step and cannot train on; it can save what the servers hold, and stop "
        "({})",
        status.message());
  }
  return status;
}

CommunicatorCounters CommunicatorBase::counters() const {
  return {.pushes = pushes_, .merged_batches = merged_batches_, .receives = receives_, .skipped_batches = skipped_};
}

}  // namespace argosy::ps
