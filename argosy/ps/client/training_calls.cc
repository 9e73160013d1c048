#include "argosy/ps/client/training_calls.h"

#include <algorithm>
#include <atomic>

#include "argosy/base/clock.h"
#include "argosy/base/log.h"
#include "argosy/observe/metrics.h"
#include "argosy/observe/trace.h"
#include "argosy/ps/client/reply.h"
#include "argosy/ps/client/store_relaxed.h"
#include "argosy/ps/client/table_check.h"
#include "argosy/ps/spec/job_spec_wire.h"

namespace argosy::ps {
namespace {

// Adds the time from here to the end of the scope to a histogram of calls, and to the trace.
class CallTimer {
 public:
  CallTimer(observe::Histogram& seconds, const char* name) : seconds_(seconds), span_(name) {}
  ~CallTimer() { seconds_.observe(since_begin_.seconds()); }
  CallTimer(const CallTimer&) = delete;

 private:
  observe::Histogram& seconds_;
  const observe::TraceSpan span_;
  const Stopwatch since_begin_;
};

template <typename Reply>
Status note_read_at(int servers, std::span<const int> asked, std::span<const rpc::Received> answers, ReadAt& read_at) {
  read_at.resize(static_cast<size_t>(servers));
  for (size_t i = 0; i < asked.size(); ++i) {
    ASSIGN_OR_RETURN(const auto reply, parse_reply<Reply>(answers[i]));
    keep_oldest(read_at[static_cast<size_t>(asked[i])], reply.read_at());
  }
  return {};
}

observe::Histogram& call_seconds(const char* name, const char* help) {
  return observe::Registry::process().histogram(name, help, observe::seconds_bounds());
}

}  // namespace

Status TrainingCalls::pull_rows(std::span<const RowRequest> requests, std::optional<Position> min_step, Deadline deadline,
                                Numbers numbers, ReadAt* read_at) {
  static observe::Histogram& seconds =
      call_seconds("argosy_worker_pull_seconds", "A pull of rows from all servers, retries and waits counted in.");
  const CallTimer timer(seconds, "pull");
  for (const RowRequest& request : requests) RETURN_IF_ERROR(check_table_kind(job(), request.table, true));
  const auto makes = [](const RowRequest& request) { return request.create; };
  const auto creating = std::ranges::count_if(requests, makes);
  if (creating == 0) return pull_rows_alike(requests, false, min_step, deadline, numbers, read_at);
  if (creating == std::ssize(requests)) return pull_rows_alike(requests, true, min_step, deadline, numbers, read_at);
  std::vector<RowRequest> sorted(requests.begin(), requests.end());
  const auto readers = std::stable_partition(sorted.begin(), sorted.end(), makes);
  RETURN_IF_ERROR(pull_rows_alike({sorted.begin(), readers}, true, min_step, deadline, numbers, read_at));
  return pull_rows_alike({readers, sorted.end()}, false, min_step, deadline, numbers, read_at);
}

Status TrainingCalls::pull_rows_alike(std::span<const RowRequest> requests, bool create, std::optional<Position> min_step,
                                      Deadline deadline, Numbers numbers, ReadAt* read_at) {
  const bool packed = packs(numbers);
  const auto scratch = scratch_.take();
  scratch->lists.clear();
  for (const RowRequest& request : requests) scratch->lists.push_back(request.keys);
  RowSplit& split = scratch->split;
  split.assign(scratch->lists, servers().size());

  std::vector<ServerCall> calls;
  for (int server = 0; server < servers().size(); ++server) {
    const size_t keys = split.count(server);
    if (keys == 0) continue;
    wire::PullRowsRequest header;
    if (min_step) *header.mutable_min_step() = to_wire(*min_step);
    header.set_create(create);
    header.set_packed(packed);
    PayloadWriter payload(bytes_, keys * sizeof(uint64_t));
    for (size_t list = 0; list < requests.size(); ++list) {
      wire::Section& section = *header.add_sections();
      section.set_table(static_cast<uint32_t>(requests[list].table));
      section.set_count(split.count(server, list));
      if (packed) {
        write_packed_keys(server, list, requests[list].keys, *scratch, section, payload);
      } else {
        split.copy_keys(server, list, requests[list].keys, payload.room<uint64_t>(split.count(server, list)));
      }
    }
    calls.push_back({server, session_.message(wire::PULL_ROWS, server, std::move(header))});
    calls.back().message.payload = payload.finish();
  }
  if (calls.empty()) return {};
  std::vector<int> asked;
  for (const ServerCall& call : calls) asked.push_back(call.server);
  ASSIGN_OR_RETURN(const auto answers, servers().call(std::move(calls), min_step ? std::optional(deadline) : std::nullopt));
  for (size_t i = 0; i < answers.size(); ++i) {
    const Status stored =
        packed ? store_packed_rows(asked[i], requests, *scratch, answers[i]) : store_rows(asked[i], requests, split, answers[i]);
    if (!stored.ok()) return stored.with_context("{}", servers().name(asked[i]));
  }
  return read_at == nullptr ? Status() : note_read_at<wire::PullRowsReply>(servers().size(), asked, answers, *read_at);
}

Status TrainingCalls::store_rows(int server, std::span<const RowRequest> requests, const RowSplit& split,
                                 const rpc::Received& received) const {
  size_t offset = 0;
  for (size_t list = 0; list < requests.size(); ++list) {
    const size_t width = job().tables[static_cast<size_t>(requests[list].table)].width;
    const size_t floats = split.count(server, list) * width;
    const auto rows = received.payload.values<float>(offset, floats);
    if (rows.size() != floats) return wrong_payload_size(received, offset + floats * sizeof(float));
    split.scatter(server, list, rows.data(), width, requests[list].rows);
    offset += rows.size_bytes();
  }
  return offset == received.payload.size() ? Status() : wrong_payload_size(received, offset);
}

Status TrainingCalls::pull_dense(std::span<const DenseRequest> requests, std::optional<Position> min_step, Deadline deadline,
                                 Numbers numbers, ReadAt* read_at) {
  const bool packed = packs(numbers);
  for (const DenseRequest& request : requests) RETURN_IF_ERROR(check_dense_size(job(), request.table, request.values.size()));
  std::vector<ServerCall> calls;
  for (int server = 0; server < servers().size(); ++server) {
    wire::PullDenseRequest header;
    for (const DenseRequest& request : requests) {
      const Range range = dense_range(job(), static_cast<size_t>(request.table), servers().size(), server);
      if (range.size() > 0) header.add_tables(static_cast<uint32_t>(request.table));
    }
    // With a position every server is asked: the question also tells it that all servers have this worker's last step.
    if (header.tables_size() == 0 && !min_step) continue;
    if (min_step) *header.mutable_min_step() = to_wire(*min_step);
    header.set_packed(packed);
    calls.push_back({server, session_.message(wire::PULL_DENSE, server, std::move(header))});
  }
  std::vector<int> asked;
  for (const ServerCall& call : calls) asked.push_back(call.server);
  ASSIGN_OR_RETURN(const auto answers, servers().call(std::move(calls), min_step ? std::optional(deadline) : std::nullopt));
  for (size_t i = 0; i < answers.size(); ++i) {
    const Status stored =
        packed ? store_packed_dense(asked[i], requests, answers[i]) : store_dense(asked[i], requests, answers[i]);
    if (!stored.ok()) return stored.with_context("{}", servers().name(asked[i]));
  }
  if (read_at != nullptr) RETURN_IF_ERROR(note_read_at<wire::PullDenseReply>(servers().size(), asked, answers, *read_at));
  return store_rates(requests, answers);
}

Status TrainingCalls::store_rates(std::span<const DenseRequest> requests, std::span<const rpc::Received> answers) {
  if (std::ranges::all_of(requests, [](const DenseRequest& request) { return request.rate == nullptr; })) return {};
  for (const rpc::Received& answer : answers) {
    ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::PullDenseReply>(answer));
    for (int i = 0; i < std::min(reply.rates_size(), reply.sections_size()); ++i) {
      const auto wanted = std::ranges::find(requests, static_cast<int>(reply.sections(i).table()), &DenseRequest::table);
      if (wanted != requests.end() && wanted->rate != nullptr) *wanted->rate = reply.rates(i);
    }
  }
  return {};
}

Status TrainingCalls::store_dense(int server, std::span<const DenseRequest> requests, const rpc::Received& received) const {
  size_t offset = 0;
  for (const DenseRequest& request : requests) {
    const Range range = dense_range(job(), static_cast<size_t>(request.table), servers().size(), server);
    const auto values = received.payload.values<float>(offset, range.size());
    if (values.size() != range.size()) return wrong_payload_size(received, offset + range.size() * sizeof(float));
    store_relaxed(values, request.values.data() + range.begin);
    offset += values.size_bytes();
  }
  return offset == received.payload.size() ? Status() : wrong_payload_size(received, offset);
}

Result<std::vector<TrainingCalls::PushPart>> TrainingCalls::parts_of(const Push& push, Scratch& scratch) const {
  std::vector<PushPart> parts;
  for (const DenseGradient& gradient : push.dense) {
    RETURN_IF_ERROR(check_dense_size(job(), gradient.table, gradient.values.size()));
    parts.push_back({.table = gradient.table, .dense = &gradient});
  }
  scratch.lists.clear();
  for (const RowGradients& gradients : push.rows) {
    RETURN_IF_ERROR(check_table_kind(job(), gradients.table, true));
    parts.push_back({.table = gradients.table, .rows = &gradients, .list = scratch.lists.size()});
    scratch.lists.push_back(gradients.keys);
  }
  std::ranges::sort(parts, {}, &PushPart::table);
  const auto twice = std::ranges::adjacent_find(parts, {}, &PushPart::table);
  if (twice == parts.end()) return parts;
  return Status::invalid_argument("table '{}' is in a push twice", job().tables[static_cast<size_t>(twice->table)].name);
}

// The batches of a push that `server` did not have when this worker connected.
Result<std::vector<BatchId>> TrainingCalls::lacking(int server, const Push& push) const {
  std::vector<BatchId> batches(push.batches.begin(), push.batches.end());
  if (!session_.replays()) return batches;
  std::erase_if(batches, [&](BatchId batch) { return session_.had(server, batch); });
  if (push.by_server || batches.empty() || batches.size() == push.batches.size()) return batches;
  return Status::failed_precondition(
      "{} has some of the batches {} to {} of round {} from an earlier start of worker {} and lacks the others: the worker now "
      "takes "
      "its data in another order or with another number of threads",
      servers().name(server), index_of(push.batches.front()), index_of(push.batches.back()), round_of(push.batches.front()),
      session_.worker());
}

Status TrainingCalls::push(const Push& push) {
  if (push.batches.empty()) return Status::invalid_argument("a push without batches");
  static observe::Histogram& seconds =
      call_seconds("argosy_worker_push_seconds", "A push to all servers until the last has acknowledged it.");
  const CallTimer timer(seconds, "push");
  if (!has_pushed_.exchange(true) && rounder_.has_feedback() && session_.replays()) warn_of_lost_residuals();
  const auto scratch = scratch_.take();
  ASSIGN_OR_RETURN(const auto parts, parts_of(push, *scratch));
  scratch->split.assign(scratch->lists, servers().size());
  const uint64_t sequence = ++sequence_;
  std::vector<ServerCall> calls;
  std::vector<std::vector<BatchId>> sent(static_cast<size_t>(servers().size()));
  std::vector<uint64_t> boots(sent.size());
  for (int server = 0; server < servers().size(); ++server) {
    ASSIGN_OR_RETURN(auto batches, lacking(server, push));
    if (batches.empty()) continue;
    calls.push_back({server, push_message(server, push, batches, sequence, parts, *scratch)});
    sent[static_cast<size_t>(server)] = std::move(batches);
    boots[static_cast<size_t>(server)] = comparison_.acknowledged().boot(server);
  }
  pushes_ += calls.size();
  const auto note = [&](int server, const rpc::Received& answer) -> Status {
    ASSIGN_OR_RETURN(const auto reply, parse_reply<wire::PushReply>(answer));
    const auto& batches = sent[static_cast<size_t>(server)];
    if (reply.outcome() != wire::LATE) {
      // Another thread may have compared with the server's next process before this answer was seen.
      const bool in_time = comparison_.acknowledged().add(server, batches, boots[static_cast<size_t>(server)]);
      return in_time ? Status() : comparison_.compare_with(server, true);
    }
    log_warning("step {} was taken without this worker; its gradients are dropped", push.step ? push.step->step : 0);
    comparison_.acknowledged().add_late(server, batches, samples_for(server, push));
    return {};
  };
  const Status pushed = servers().call(std::move(calls), {}, note).status();
  if (pushed.code() == Code::data_loss) comparison_.lost();
  return pushed;
}

uint64_t TrainingCalls::samples_for(int server, const Push& push) const {
  uint64_t samples = 0;
  for (size_t i = 0; i < push.samples.size(); ++i) {
    if (!session_.had(server, push.batches[i])) samples += push.samples[i];
  }
  return samples;
}

rpc::Message TrainingCalls::push_message(int server, const Push& push, std::span<const BatchId> batches, uint64_t sequence,
                                         std::span<const PushPart> parts, Scratch& scratch) {
  wire::PushRequest header;
  header.set_sequence(sequence);
  header.set_samples(samples_for(server, push));
  header.mutable_batches()->Add(batches.begin(), batches.end());
  for (const BatchLines& lines : push.lines) {
    if (std::ranges::find(batches, lines.batch) == batches.end()) continue;
    wire::LineRange* range = header.add_lines();
    range->set_file(lines.made_of.file);
    range->set_first(lines.made_of.lines.first);
    range->set_count(lines.made_of.lines.count);
  }
  if (push.step) *header.mutable_step() = to_wire(*push.step);
  const auto at = static_cast<size_t>(server);
  if (at < push.rows_read_at.size()) header.set_rows_read_at(push.rows_read_at[at]);
  if (at < push.dense_read_at.size()) header.set_dense_read_at(push.dense_read_at[at]);
  for (const PushPart& part : parts) {
    wire::Section& section = *header.add_sections();
    section.set_table(static_cast<uint32_t>(part.table));
    if (!push.nonfinite.empty())
      section.set_nonfinite(push.nonfinite[static_cast<size_t>(server) * job().tables.size() + static_cast<size_t>(part.table)]);
    if (part.dense != nullptr) {
      section.set_count(dense_range(job(), static_cast<size_t>(part.table), servers().size(), server).size());
    } else {
      section.set_count(scratch.split.count(server, part.list));
      section.set_statistics(part.has_statistics());
    }
  }
  auto payload =
      rounder_.rounds() ? packed_payload(server, parts, scratch, header) : push_payload(server, push, parts, scratch.split);
  rpc::Message result = session_.message(wire::PUSH, server, std::move(header));
  result.payload = std::move(payload);
  return result;
}

// The keys of all parts, then their floats. With an owner the memory is sent from where it lies, but for rows that have to be
// picked out for several servers.
std::vector<rpc::Slice> TrainingCalls::push_payload(int server, const Push& push, std::span<const PushPart> parts,
                                                    const RowSplit& split) {
  const bool rows_in_place = push.owner != nullptr && servers().size() == 1;
  size_t copied = 0;
  for (const PushPart& part : parts) {
    const TableSpec& table = job().tables[static_cast<size_t>(part.table)];
    if (part.dense != nullptr) {
      if (push.owner == nullptr) copied += table.size * sizeof(float);
      continue;
    }
    const size_t count = split.count(server, part.list);
    if (!rows_in_place) copied += count * (sizeof(uint64_t) + table.width * sizeof(float));
    if (part.has_statistics()) copied += count * 2 * sizeof(float);
  }

  PayloadWriter payload(bytes_, copied);
  for (const PushPart& part : parts) {
    if (part.rows == nullptr) continue;
    if (rows_in_place) {
      payload.refer(part.rows->keys, push.owner);
    } else {
      split.copy_keys(server, part.list, part.rows->keys, payload.room<uint64_t>(split.count(server, part.list)));
    }
  }
  for (const PushPart& part : parts) {
    if (part.rows != nullptr) {
      write_rows(server, part, split, rows_in_place ? push.owner : nullptr, payload);
      continue;
    }
    const Range range = dense_range(job(), static_cast<size_t>(part.table), servers().size(), server);
    const auto values = part.dense->values.subspan(range.begin, range.size());
    push.owner != nullptr ? payload.refer(values, push.owner) : payload.copy(values);
  }
  return payload.finish();
}

void TrainingCalls::write_rows(int server, const PushPart& part, const RowSplit& split, const std::shared_ptr<const void>& owner,
                               PayloadWriter& payload) const {
  const RowGradients& rows = *part.rows;
  const size_t width = job().tables[static_cast<size_t>(part.table)].width, count = split.count(server, part.list);
  if (owner != nullptr) {
    payload.refer(std::span(rows.values, count * width), owner);
  } else {
    split.gather(server, part.list, rows.values, width, payload.room<float>(count * width));
  }
  if (part.has_statistics()) write_statistics(server, part, split, payload);
}

void TrainingCalls::write_statistics(int server, const PushPart& part, const RowSplit& split, PayloadWriter& payload) {
  const RowGradients& rows = *part.rows;
  const size_t count = split.count(server, part.list);
  const auto write = [&](const float* counts, float otherwise) {
    float* place = payload.room<float>(count);
    if (counts == nullptr) {
      std::fill_n(place, count, otherwise);
    } else {
      split.gather(server, part.list, counts, 1, place);
    }
  };
  write(rows.shows, 1.0f);
  write(rows.clicks, 0.0f);
}

}  // namespace argosy::ps
