// What is logged can be applied, now and by every restart: over random records of every method, good ones and spoilt ones.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "argosy/ps/server_journal.h"
#include "argosy/ps/server_scratch.h"
#include "argosy/ps/state_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using Verdict = State::Verdict;

// Draws records for a state: mostly such as a worker sends at this moment, some of them spoilt in one place.
class Draw {
 public:
  Draw(uint64_t seed, State& state) : random_(seed), state_(state) {}

  StoredRecord record() {
    static constexpr wire::Method methods[] = {
        wire::HELLO,       wire::GOODBYE,      wire::INIT_DENSE,   wire::PUSH,        wire::PUSH,
        wire::PUSH,        wire::PUSH,         wire::LEAVE,        wire::APPLY_STEP,  wire::APPLY_STEP,
        wire::GATHER,      wire::NEXT_FILE,    wire::POST,         wire::SET_RATE,    wire::SHRINK,
        wire::IMPORT_ROWS, wire::IMPORT_DENSE, wire::IMPORT_STATE, wire::WORKER_LOST, wire::SAVE_SNAPSHOT,
        wire::HEARTBEAT,   wire::SET_ASIDE,    wire::SETTLE_LOSS,  wire::IMPORT,      wire::END_OPERATION};
    StoredRecord record = of(methods[below(std::size(methods))]);
    record.seconds = 1'700'000'000 + static_cast<uint32_t>(below(1000));
    if (chance(0.08)) spoil(record);
    return record;
  }

 private:
  uint64_t below(uint64_t end) { return random_() % end; }
  bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  float number() { return chance(0.002) ? std::numeric_limits<float>::infinity() : static_cast<float>(below(9)) - 4; }
  std::vector<float> numbers(size_t count) {
    std::vector<float> all(count);
    for (float& one : all) one = number();
    return all;
  }
  // Now and then beyond the end, by a little or by far.
  uint32_t index(size_t end) {
    if (!chance(0.05)) return static_cast<uint32_t>(below(end));
    return chance(0.5) ? static_cast<uint32_t>(end) : 0xffffffffu;
  }
  std::vector<uint64_t> keys(size_t most) {
    std::set<uint64_t> all;
    for (size_t i = below(most + 1); i > 0; --i) {
      const uint64_t key = below(40);
      if (server_of(key, state_.tables().servers()) == state_.tables().server() || chance(0.02)) all.insert(key);
    }
    return {all.begin(), all.end()};
  }
  wire::Caller caller() {
    const uint32_t worker = index(static_cast<size_t>(state_.spec().workers));
    const bool known = worker < static_cast<uint32_t>(state_.spec().workers);
    const uint64_t newest = known ? state_.members().worker(static_cast<int>(worker)).incarnation : 1;
    return caller_of(worker, chance(0.9) ? newest : below(3));
  }
  size_t worker_of(const wire::Caller& caller) const { return std::min<size_t>(caller.worker(), state_.members().workers() - 1); }

  StoredRecord of(wire::Method method) {
    switch (method) {
      case wire::HELLO: return hello_of(index(static_cast<size_t>(state_.spec().workers)), 1 + below(1000));
      case wire::PUSH: return push();
      case wire::LEAVE: return leave();
      case wire::APPLY_STEP: return apply_step();
      case wire::INIT_DENSE: return dense<wire::InitDenseRequest>(method);
      case wire::IMPORT_DENSE: return dense<wire::ImportDenseRequest>(method);
      case wire::IMPORT_ROWS: return import_rows();
      case wire::IMPORT_STATE: return import_state();
      case wire::SET_RATE: return set_rate();
      case wire::SHRINK: return shrink();
      case wire::GATHER: return gather();
      case wire::NEXT_FILE: return next_file();
      case wire::POST: return post();
      case wire::WORKER_LOST: return worker_lost();
      case wire::SAVE_SNAPSHOT: return saved();
      case wire::SETTLE_LOSS: return settle_loss();
      case wire::IMPORT: return import();
      case wire::END_OPERATION: return end_operation();
      default: return with_caller<wire::GoodbyeRequest>(method);
    }
  }
  template <typename Message>
  StoredRecord with_caller(wire::Method method) {
    Message request;
    *request.mutable_caller() = caller();
    return stored(method, request);
  }

  StoredRecord push() {
    wire::PushRequest request;
    *request.mutable_caller() = caller();
    const Window window = state_.members().worker(static_cast<int>(worker_of(request.caller()))).window;
    const uint32_t round = window.round() + (chance(0.05) ? 1 : 0);
    for (size_t i = 0, count = chance(0.8) ? 1 : below(4); i < count; ++i) {
      request.add_batches(batch_id(chance(0.02) ? round + 1 : round, window.through() + static_cast<uint32_t>(below(4))));
    }
    request.set_samples(static_cast<uint64_t>(request.batches_size()) * 3);
    if (state_.is_sync() || chance(0.1)) {
      Position step = state_.position();
      step.step += chance(0.7) ? 0 : static_cast<uint32_t>(below(3));
      if (chance(0.98)) *request.mutable_step() = to_wire(step);
    }
    std::vector<uint64_t> all_keys;
    std::vector<float> all_floats;
    for (size_t i = 0; i < state_.tables().size(); ++i) {
      if (chance(0.25)) continue;
      wire::Section* section = request.add_sections();
      section->set_table(static_cast<uint32_t>(i));
      if (!state_.tables().is_sparse(i)) {
        section->set_count(chance(0.9) ? state_.tables().range(i).size() : below(6));
        const auto values = numbers(section->count());
        all_floats.insert(all_floats.end(), values.begin(), values.end());
        continue;
      }
      const auto some = keys(5);
      section->set_count(some.size());
      section->set_statistics(chance(0.3));
      all_keys.insert(all_keys.end(), some.begin(), some.end());
      const auto values = numbers(some.size() * (state_.spec().tables[i].width + (section->statistics() ? 2 : 0)));
      all_floats.insert(all_floats.end(), values.begin(), values.end());
    }
    return stored(wire::PUSH, request, all_keys, all_floats);
  }

  StoredRecord leave() {
    wire::LeaveRequest request;
    *request.mutable_caller() = caller();
    const auto worker = state_.members().worker(static_cast<int>(worker_of(request.caller())));
    request.set_round(chance(0.9) ? worker.window.round() : chance(0.5) ? 0xffffffffu : static_cast<uint32_t>(below(4)));
    request.set_steps(state_.position().step + static_cast<uint32_t>(below(2)));
    if (chance(0.5)) {
      request.mutable_ledger()->set_batches(chance(0.8) ? worker.window.through() : static_cast<uint32_t>(below(5)));
      request.mutable_ledger()->set_samples(request.ledger().batches() * 3);
      if (chance(0.1)) request.mutable_ledger()->set_given_up_samples(below(20));
    }
    return stored(wire::LEAVE, request);
  }

  StoredRecord apply_step() {
    wire::ApplyStepRequest request;
    if (chance(0.5)) *request.mutable_caller() = caller();
    Position step = state_.position();
    step.step += chance(0.9) ? 0 : 1;
    *request.mutable_step() = to_wire(step);
    for (const std::string& group : state_.spec().clip_groups()) {
      if (chance(0.05)) continue;
      wire::Number* factor = request.add_factors();
      factor->set_name(group);
      factor->set_value(chance(0.95) ? 0.5f : std::numeric_limits<float>::quiet_NaN());
    }
    return stored(wire::APPLY_STEP, request);
  }

  template <typename Message>
  StoredRecord dense(wire::Method method) {
    Message request;
    *request.mutable_caller() = caller();
    const uint32_t table = index(state_.tables().size());
    request.set_table(table);
    const bool known = table < state_.tables().size() && !state_.tables().is_sparse(table);
    return stored(method, request, {}, numbers(known && chance(0.9) ? state_.tables().range(table).size() : below(5)));
  }

  StoredRecord import_rows() {
    wire::ImportRowsRequest request;
    *request.mutable_caller() = caller();
    request.set_table(index(state_.tables().size()));
    const auto some = keys(4);
    request.set_count(chance(0.95) ? some.size() : below(1ull << 62));
    const size_t width = request.table() < state_.tables().size() ? state_.spec().tables[request.table()].width : 2;
    return stored(wire::IMPORT_ROWS, request, some, numbers(some.size() * width));
  }

  StoredRecord import_state() {
    wire::ImportStateRequest request;
    *request.mutable_caller() = caller();
    const uint32_t table = index(state_.tables().size());
    request.set_table(table);
    request.set_state(static_cast<uint32_t>(below(5)));
    std::vector<uint64_t> some;
    size_t count = chance(0.5) ? 1 : below(5);
    if (table < state_.tables().size() && state_.tables().is_sparse(table) && chance(0.7)) {
      some = keys(3);
      if (chance(0.8)) count = some.size() * state_.spec().tables[table].width;
    } else if (table < state_.tables().size() && chance(0.7)) {
      count = state_.tables().range(table).size();
    }
    request.set_count(some.size());
    return stored(wire::IMPORT_STATE, request, some, numbers(count));
  }

  StoredRecord set_rate() {
    wire::SetRateRequest request;
    *request.mutable_caller() = caller();
    request.set_table(static_cast<int32_t>(below(state_.tables().size() + 2)) - 1);
    request.set_rate(chance(0.9) ? 0.25f : std::numeric_limits<float>::infinity());
    request.set_back_to_schedule(chance(0.2));
    return stored(wire::SET_RATE, request);
  }

  StoredRecord shrink() {
    wire::ShrinkRequest request;
    *request.mutable_caller() = caller();
    request.set_table(static_cast<int32_t>(below(state_.tables().size() + 2)) - 1);
    if (chance(0.3)) request.set_score(number());
    if (chance(0.5)) request.set_unseen_steps(static_cast<uint32_t>(below(3)));
    if (chance(0.3)) request.set_ttl_seconds(static_cast<uint32_t>(below(300)));
    request.set_number(below(6));
    return stored(wire::SHRINK, request);
  }

  StoredRecord gather() {
    wire::GatherRequest request;
    *request.mutable_caller() = caller();
    request.set_name(chance(0.5) ? "a" : "b");
    request.set_call(below(5));
    request.set_position(below(3));
    request.set_after(below(3));
    return stored(wire::GATHER, request, {}, numbers(below(3)));
  }

  StoredRecord next_file() {
    wire::NextFileRequest request;
    *request.mutable_caller() = caller();
    request.set_list(chance(0.5) ? "a" : "b");
    request.set_number(below(4));
    request.set_files(chance(0.9) ? 3 : below(5));
    request.set_reader(static_cast<uint32_t>(chance(0.9) ? below(2) : below(5000)));
    return stored(wire::NEXT_FILE, request);
  }

  StoredRecord post() {
    wire::PostRequest request;
    *request.mutable_caller() = caller();
    request.set_to(index(static_cast<size_t>(state_.spec().workers)));
    request.set_number(below(4));
    return stored(wire::POST, request, {}, numbers(below(3)));
  }

  StoredRecord worker_lost() {
    wire::WorkerLostRecord request;
    request.set_worker(index(static_cast<size_t>(state_.spec().workers)));
    return stored(wire::WORKER_LOST, request);
  }

  StoredRecord settle_loss() {
    wire::SettleLossRequest request;
    *request.mutable_caller() = caller();
    request.set_phase(chance(0.9) ? wire::SettleLossRequest::DROP : wire::SettleLossRequest::KEEP);
    wire::UnsettledLoss* loss = request.mutable_loss();
    loss->set_worker(index(static_cast<size_t>(state_.spec().workers)));
    *loss->mutable_step() = to_wire(state_.position());
    const Window window = state_.members().worker(static_cast<int>(worker_of(request.caller()))).window;
    for (uint64_t i = below(3); i > 0; --i) loss->add_batches(batch_id(window.round(), static_cast<uint32_t>(below(6))));
    return stored(wire::SETTLE_LOSS, request);
  }

  StoredRecord end_operation() {
    wire::EndOperationRequest request;
    *request.mutable_caller() = caller();
    wire::Operation* operation = request.mutable_operation();
    if (chance(0.95)) operation->set_kind("save");
    operation->set_target(chance(0.5) ? "a" : "b");
    operation->set_position(batch_id(0, static_cast<uint32_t>(below(4))));
    operation->set_occurrence(static_cast<uint32_t>(below(2)));
    request.set_answer(std::string(below(20), 'x'));
    return stored(wire::END_OPERATION, request);
  }

  StoredRecord import() {
    wire::ImportRecord request;
    request.set_finished(chance(0.5));
    return stored(wire::IMPORT, request);
  }

  StoredRecord saved() {
    wire::SavedRecord request;
    request.set_id(below(3));
    request.set_folder("folder");
    for (size_t i = 0; i < state_.tables().size(); ++i) request.add_steps(below(4));
    request.set_shrinks(below(3));
    return stored(wire::SAVE_SNAPSHOT, request);
  }

  void spoil(StoredRecord& record) {
    switch (below(5)) {
      case 0:
        if (!record.header.empty()) record.header.resize(below(record.header.size()));
        break;
      case 1:
        if (!record.header.empty()) record.header[below(record.header.size())] ^= static_cast<char>(1 << below(8));
        break;
      case 2: record.header += static_cast<char>(below(256)); break;
      case 3: record.payload_bytes = below(record.payload_bytes + 1); break;
      default: {
        std::string bytes(reinterpret_cast<const char*>(record.words.data()), record.payload_bytes);
        bytes.append(below(20) + 1, 'x');
        record.set_payload(bytes.data(), bytes.size());
      }
    }
  }

  std::mt19937_64 random_;
  State& state_;
};

JobSpec draw_job(uint64_t seed) {
  std::mt19937_64 random(seed);
  TableSpec plain = counting_rows("plain"), counted = counting_rows("counted", 3), adam = counting_dense("adam", 3);
  counted.show_click.enabled = true;
  counted.show_click.decay = 0.5f;
  counted.expiry.ttl_seconds = 100;
  counted.rule = "adam";
  adam.rule = "adam";
  const Mode mode = std::array{Mode::sync, Mode::sync, Mode::half_async, Mode::async, Mode::geo}[random() % 5];
  if (mode == Mode::sync && random() % 2 == 0) plain.clip_group = adam.clip_group = "all";
  std::vector<TableSpec> tables = {plain, counted, adam, counting_dense("dense", 2)};
  if (mode == Mode::geo) {
    for (TableSpec& table : tables) table.geo = true, table.rule = "sgd";
  }
  return job(mode, 1 + static_cast<int>(random() % 3), tables);
}

// A server's life as its records: what check() lets through is logged and can be applied, and the log of it all, read
// from the disk by a second process, gives the same state bit by bit.
RC_GTEST_PROP(StateProperty, WhatIsLoggedCanBeAppliedAndReplayed, (uint64_t job_seed, std::vector<uint64_t> seeds)) {
  const JobSpec spec = draw_job(job_seed);
  RC_ASSERT(spec.check().ok());
  const int servers = 1 + static_cast<int>(job_seed % 2);
  const auto live = make_state(spec, servers);
  const Folder folder;
  auto journal = Journal::open(folder.path() / "log", {});
  RC_ASSERT(journal.ok());
  for (int worker = 0; worker < spec.workers; ++worker) {
    const StoredRecord hello = hello_of(static_cast<uint32_t>(worker), 7);
    RC_ASSERT(commit(*live, hello).ok());
    RC_ASSERT((*journal)->append(hello.record()).ok());
  }
  for (const uint64_t seed : seeds) {
    for (uint64_t i = 0; i < 8; ++i) {
      const StoredRecord drawn = Draw(seed + i, *live).record();
      const auto verdict = live->check(drawn.record());
      if (!verdict.ok() || *verdict != Verdict::change) continue;
      RC_LOG() << describe(drawn.record()) << std::endl;
      RC_ASSERT((*journal)->append(drawn.record()).ok());
      const Status applied = live->apply(drawn.record());
      if (!applied.ok()) RC_FAIL(applied.message());
    }
  }
  journal->reset();
  journal = Journal::open(folder.path() / "log", {});
  RC_ASSERT(journal.ok());
  const auto again = make_state(spec, servers);
  const Status replayed = (*journal)->replay(0, [&](const Record& record) { return again->apply(record); });
  if (!replayed.ok()) RC_FAIL(replayed.message());
  RC_ASSERT(bytes_of(*again) == bytes_of(*live));
}

}  // namespace
}  // namespace argosy::ps
