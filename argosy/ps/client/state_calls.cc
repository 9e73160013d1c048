#include "argosy/ps/client/state_calls.h"

#include <algorithm>

namespace argosy::ps {

Result<std::vector<StateCalls::StatePart>> StateCalls::state_parts(int table, std::span<const uint64_t> keys,
                                                                   size_t values) const {
  if (table < 0 || static_cast<size_t>(table) >= job().tables.size())
    return Status::invalid_argument("there is no table {}; the job has {}", table, job().tables.size());
  const TableSpec& spec = job().tables[static_cast<size_t>(table)];
  std::vector<StatePart> parts(static_cast<size_t>(servers().size()));
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i].server = static_cast<int>(i);
    if (!spec.sparse) parts[i].range = dense_range(job(), static_cast<size_t>(table), servers().size(), static_cast<int>(i));
    if (parts[i].range.size() > 0 && values == 1 && spec.size != 1) parts[i].range = {0, 1};
    if (spec.sparse && keys.empty()) parts[i].range = {0, 1};
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    StatePart& part = parts[static_cast<size_t>(server_of(keys[i], servers().size()))];
    part.keys.push_back(keys[i]);
    part.rows.push_back(i);
  }
  std::erase_if(parts, [](const StatePart& part) { return part.keys.empty() && part.range.size() == 0; });
  const size_t expected = spec.sparse ? (keys.empty() ? 1 : keys.size() * spec.width) : spec.size;
  if (values != expected && (spec.sparse || values != 1)) {
    return Status::invalid_argument("table '{}': a state of {} numbers, expected {}{}", spec.name, values, expected,
                                    spec.sparse ? "" : ", or 1 for a scalar");
  }
  return parts;
}

Status StateCalls::pull_state(int table, size_t state, std::span<const uint64_t> keys, std::span<float> values) {
  ASSIGN_OR_RETURN(const auto parts, state_parts(table, keys, values.size()));
  const size_t width = job().tables[static_cast<size_t>(table)].width;
  std::vector<ServerCall> calls;
  for (const StatePart& part : parts) {
    wire::PullStateRequest request;
    request.set_table(static_cast<uint32_t>(table));
    request.set_state(static_cast<uint32_t>(state));
    request.set_count(part.keys.size());
    calls.push_back({part.server, session_.message(wire::PULL_STATE, part.server, std::move(request))});
    if (!part.keys.empty()) calls.back().message.payload = {rpc::Slice::own(part.keys)};
  }
  ASSIGN_OR_RETURN(const auto answers, servers().call(std::move(calls)));
  for (size_t i = 0; i < parts.size(); ++i) {
    const StatePart& part = parts[i];
    const size_t numbers = part.keys.empty() ? part.range.size() : part.keys.size() * width;
    const auto found = answers[i].payload.values<float>(0, numbers);
    if (found.size() != numbers || answers[i].payload.size() != numbers * sizeof(float)) {
      return Status::data_loss("{}: a state of table '{}' has {} bytes, expected {}", servers().name(part.server),
                               job().tables[static_cast<size_t>(table)].name, answers[i].payload.size(), numbers * sizeof(float));
    }
    if (part.keys.empty()) std::copy(found.begin(), found.end(), values.begin() + static_cast<std::ptrdiff_t>(part.range.begin));
    for (size_t row = 0; row < part.rows.size(); ++row)
      std::copy_n(found.data() + row * width, width, values.data() + part.rows[row] * width);
  }
  return {};
}

Status StateCalls::import_state(int table, size_t state, std::span<const uint64_t> keys, std::span<const float> values) {
  ASSIGN_OR_RETURN(const auto parts, state_parts(table, keys, values.size()));
  const size_t width = job().tables[static_cast<size_t>(table)].width;
  std::vector<ServerCall> calls;
  for (const StatePart& part : parts) {
    wire::ImportStateRequest request;
    request.set_table(static_cast<uint32_t>(table));
    request.set_state(static_cast<uint32_t>(state));
    request.set_count(part.keys.size());
    std::vector<float> numbers;
    if (part.keys.empty()) {
      const auto range = values.subspan(part.range.begin, part.range.size());
      numbers.assign(range.begin(), range.end());
    }
    for (const size_t row : part.rows)
      numbers.insert(numbers.end(), values.data() + row * width, values.data() + (row + 1) * width);
    calls.push_back({part.server, session_.message(wire::IMPORT_STATE, part.server, std::move(request))});
    if (!part.keys.empty()) calls.back().message.payload.push_back(rpc::Slice::own(part.keys));
    calls.back().message.payload.push_back(rpc::Slice::own(std::move(numbers)));
  }
  return servers().call(std::move(calls)).status();
}

}  // namespace argosy::ps
