#include "argosy/ps/communicator/geo_tables.h"

#include <algorithm>
#include <utility>

namespace argosy::ps {

GeoTables::GeoTables(const JobSpec& spec, std::vector<std::unique_ptr<optim::Rule>> rules)
    : spec_(spec), rules_(std::move(rules)), dense_(spec.tables.size()) {
  const MutexLock lock(mutex_);
  for (size_t i = 0; i < rules_.size(); ++i) {
    const TableSpec& table = spec.tables[i];
    rows_.push_back(table.sparse ? std::make_unique<GeoRows>(table.width, *rules_[i]) : nullptr);
    scalars_.push_back(rules_[i]->initial_scalars());
  }
}

optim::Step GeoTables::begin_step(size_t table, float rate) {
  const MutexLock lock(mutex_);
  return rules_[table]->begin_step(rate, scalars_[table]);
}

Status GeoTables::pull(Client& client, std::span<const RowRequest> requests) {
  std::vector<std::vector<uint32_t>> unknown(requests.size());
  std::vector<std::vector<uint64_t>> keys(requests.size());
  std::vector<std::vector<float>> fetched(requests.size());
  std::vector<RowRequest> fetch;
  for (size_t i = 0; i < requests.size(); ++i) {
    const RowRequest& request = requests[i];
    const bool known = request.table >= 0 && static_cast<size_t>(request.table) < rows_.size();
    if (!known || rows_[static_cast<size_t>(request.table)] == nullptr) {
      return Status::invalid_argument("rows are asked for of table {}, which is no sparse table of the job", request.table);
    }
    rows(static_cast<size_t>(request.table)).read(request.keys, request.rows, unknown[i]);
    if (unknown[i].empty()) continue;
    for (const uint32_t place : unknown[i]) keys[i].push_back(request.keys[place]);
    fetched[i].resize(keys[i].size() * spec_.tables[static_cast<size_t>(request.table)].width);
    fetch.push_back({.table = request.table, .keys = keys[i], .rows = fetched[i].data(), .create = request.create});
  }
  if (fetch.empty()) return {};
  RETURN_IF_ERROR(client.pull_rows(fetch));
  for (size_t i = 0; i < requests.size(); ++i) {
    const size_t width = spec_.tables[static_cast<size_t>(requests[i].table)].width;
    if (requests[i].create) rows(static_cast<size_t>(requests[i].table)).insert(keys[i], fetched[i].data());
    for (size_t k = 0; k < unknown[i].size(); ++k)
      std::copy_n(&fetched[i][k * width], width, requests[i].rows + unknown[i][k] * width);
  }
  return {};
}

void GeoTables::collect(GeoDifferences& differences) {
  const float share = 1.0f / static_cast<float>(spec_.workers);
  differences.dense.clear();
  differences.rows.clear();
  differences.tables.resize(spec_.tables.size());
  for (size_t i = 0; i < differences.tables.size(); ++i) {
    auto& [keys, values] = differences.tables[i];
    keys.clear();
    values.clear();
    const int number = static_cast<int>(i);
    if (rows_[i] != nullptr) {
      rows_[i]->collect(share, keys, values);
      differences.rows.push_back({.table = number, .keys = keys, .values = values.data()});
      continue;
    }
    dense_[i].collect(share, values);
    differences.dense.push_back({.table = number, .values = values});
  }
}

Status GeoTables::fetch(Client& client) {
  std::vector<int> sparse;
  std::vector<DenseRequest> dense;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const int number = static_cast<int>(i);
    if (rows_[i] != nullptr) {
      sparse.push_back(number);
    } else {
      dense.push_back({.table = number, .values = dense_[i].received()});
    }
  }
  rows_read_at_.clear();
  dense_read_at_.clear();
  const ChangedRows take = [&](int table, std::span<const uint64_t> keys, std::span<const float> values) {
    rows(static_cast<size_t>(table)).receive(keys, values);
    return Status();
  };
  if (!sparse.empty()) RETURN_IF_ERROR(client.pull_changed(sparse, take, &rows_read_at_));
  return client.pull_dense(dense, std::nullopt, Deadline::after_seconds(0), Numbers::exact, &dense_read_at_);
}

void GeoTables::receive_dense() {
  for (GeoDense& dense : dense_) dense.receive();
}

double GeoTables::unsent() {
  double sum = 0;
  for (const auto& rows : rows_) {
    if (rows != nullptr) sum += rows->unsent();
  }
  for (const GeoDense& dense : dense_) sum += dense.unsent();
  return sum;
}

void GeoTables::forget() {
  for (const auto& rows : rows_) {
    if (rows != nullptr) rows->clear();
  }
  for (GeoDense& dense : dense_) dense.forget_states();
  const MutexLock lock(mutex_);
  for (size_t i = 0; i < rules_.size(); ++i) scalars_[i] = rules_[i]->initial_scalars();
}

}  // namespace argosy::ps
