#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "argosy/base/check.h"
#include "argosy/ps/spec/job_spec_wire.h"
#include "argosy/ps/state/state.h"
#include "argosy/ps/state/state_cut.h"

// For tests that feed records to a State: records that own their bytes, and a state as bytes that can be compared.
namespace argosy::ps::scratch {

struct StoredRecord {
  wire::Method method = wire::UNKNOWN;
  uint32_t seconds = 0;
  std::string header;
  std::vector<uint64_t> words;  // the payload, at a multiple of 8
  size_t payload_bytes = 0;

  void set_payload(const void* bytes, size_t size) {
    words.assign(size / 8 + 1, 0);
    if (size > 0) std::memcpy(words.data(), bytes, size);
    payload_bytes = size;
  }
  Record record() const {
    return {method, seconds, header, {reinterpret_cast<const std::byte*>(words.data()), payload_bytes}, nullptr};
  }
};

template <typename Message>
StoredRecord stored(wire::Method method, const Message& message, const std::vector<uint64_t>& keys = {},
                    const std::vector<float>& floats = {}) {
  StoredRecord record{.method = method, .seconds = 1'700'000'000, .header = message.SerializeAsString(), .words = {}};
  std::string payload(reinterpret_cast<const char*>(keys.data()), keys.size() * sizeof(uint64_t));
  payload.append(reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float));
  record.set_payload(payload.data(), payload.size());
  return record;
}

inline StoredRecord hello_of(uint32_t worker, uint64_t process_id) {
  wire::HelloRequest hello;
  hello.set_worker(worker);
  hello.set_process_id(process_id);
  hello.set_process("host:" + std::to_string(process_id));
  return stored(wire::HELLO, hello);
}

inline wire::Caller caller_of(uint32_t worker, uint64_t incarnation) {
  wire::Caller caller;
  caller.set_job("test");
  caller.set_worker(worker);
  caller.set_incarnation(incarnation);
  return caller;
}

inline std::unique_ptr<State> make_state(const JobSpec& spec, int servers = 1) {
  StateOptions options;
  options.job = "test";
  options.tables.servers = servers;
  auto state = State::make(spec, options);
  ARGOSY_CHECK(state.ok(), state.status().message());
  return std::move(*state);
}

// check() and, where it says so, apply(), as a server does it.
inline Status commit(State& state, const StoredRecord& record) {
  ASSIGN_OR_RETURN(const State::Verdict verdict, state.check(record.record()));
  return verdict == State::Verdict::change ? state.apply(record.record()) : Status();
}

// Everything that a snapshot of the state would have.
inline std::string bytes_of(State& state) {
  const StateCut cut = state.cut();
  std::string bytes = cut.head.ShortDebugString();  // in which maps are in order
  for (const StateCut::Message& message : cut.messages)
    bytes += fmt::format("\nfrom {} to {} ", message.from, message.to) + *message.bytes;
  for (const auto& [step, contributions] : state.sync().held()) {
    for (const auto& [worker, contribution] : contributions) {
      bytes += fmt::format("\nheld for {} of {} by {} ", step.step, step.round, worker) + contribution.record;
      bytes.append(reinterpret_cast<const char*>(contribution.payload.data()), contribution.payload.size());
    }
  }
  for (size_t i = 0; i < state.tables().size(); ++i) {
    bytes += fmt::format("\ntable {} rate {} ", i, state.tables().set_rate_of(i).value_or(-1));
    if (!state.tables().is_sparse(i)) {
      if (const table::DenseTable* dense = state.tables().dense(i)) bytes += dense->export_bytes();
      continue;
    }
    table::SparseTable& rows = state.tables().sparse(i);
    for (const auto& pending : rows.changes().pending()) {
      const std::vector<uint64_t> keys = pending.keys();
      bytes += fmt::format("\nto tell {}: {} keys", pending.worker(), keys.size());
      bytes.append(reinterpret_cast<const char*>(keys.data()), keys.size() * sizeof(uint64_t));
    }
    std::string records;
    auto all = rows.begin_export();
    while (*all.next(1 << 20, records)) {
    }
    std::vector<std::string> sorted;
    for (size_t at = 0; at < records.size(); at += rows.codec().record_bytes()) {
      sorted.push_back(records.substr(at, rows.codec().record_bytes()));
    }
    std::ranges::sort(sorted);
    for (const std::string& one : sorted) bytes += one;
    bytes += fmt::format("steps {}", rows.progress().steps);
    for (const float scalar : rows.progress().scalars) bytes += fmt::format(" {}", scalar);
  }
  return bytes;
}

}  // namespace argosy::ps::scratch
