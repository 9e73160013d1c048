#include "argosy/observe/table_view.h"

#include <set>
#include <string_view>

#include "argosy/base/text.h"

namespace argosy::observe {
namespace {

double bound_of(const Sample& sample, std::string_view label) {
  const auto bound = parse_number(sample.label(label));
  return bound && std::isfinite(*bound) ? *bound : std::numeric_limits<double>::max();
}

void take_staleness(TableView& table, const Sample& sample) {
  if (sample.name == "argosy_server_staleness_batches_total") table.staleness_sum = sample.value;
  if (sample.name == "argosy_server_pushes_by_staleness_total" && sample.value > 0)
    table.pushes_by_staleness[bound_of(sample, "staleness_up_to")] += sample.value;
}

}  // namespace

double TableView::rows_looked_at() const {
  double all = 0;
  for (const auto& [bound, count] : rows_by_norm) all += count;
  return all;
}

double TableView::mean_staleness() const {
  double pushes = 0;
  for (const auto& [bound, count] : pushes_by_staleness) pushes += count;
  return pushes > 0 ? staleness_sum / pushes : kUnknown;
}

// Norms of a dense table's parts add up as their squares do; a mean of rows counts as often as there are rows.
void TableView::add(const TableView& part) {
  if (!is_known(norm)) {
    norm = part.norm;
  } else if (is_known(part.norm)) {
    const double mine = rows_looked_at(), others = part.rows_looked_at();
    norm = mine + others > 0 ? (norm * mine + part.norm * others) / (mine + others) : std::hypot(norm, part.norm);
  }
  for (const auto& [bound, count] : part.rows_by_norm) rows_by_norm[bound] += count;
  for (const auto& [bound, count] : part.pushes_by_staleness) pushes_by_staleness[bound] += count;
  staleness_sum += part.staleness_sum;
  rows += part.rows;
  cold_rows += part.cold_rows;
  memory_bytes += part.memory_bytes;
}

std::map<std::string, TableView> tables_of(const std::vector<Sample>& samples) {
  std::map<std::string, TableView> tables;
  std::set<std::string> sparse;
  TableView dense;  // the staleness of all dense tables, which a report has once
  for (const Sample& sample : samples) {
    const std::string name(sample.label("table"));
    if (sample.label("parameters") == "dense") take_staleness(dense, sample);
    if (name.empty()) continue;
    TableView& table = tables.try_emplace(name, TableView{.name = name}).first->second;
    take_staleness(table, sample);
    if (sample.name == "argosy_server_table_rows") {
      table.rows = sample.value;
      sparse.insert(name);
    }
    if (sample.name == "argosy_server_table_cold_rows") table.cold_rows = sample.value;
    if (sample.name == "argosy_server_table_memory_bytes") table.memory_bytes = sample.value;
    if (sample.name == "argosy_server_table_norm") table.norm = sample.value;
    if (sample.name == "argosy_server_table_rows_by_norm") {
      table.rows_by_norm[bound_of(sample, "norm_up_to")] += sample.value;
    }
  }
  for (auto& [name, table] : tables) {
    if (sparse.contains(name)) continue;
    table.pushes_by_staleness = dense.pushes_by_staleness;
    table.staleness_sum = dense.staleness_sum;
  }
  return tables;
}

}  // namespace argosy::observe
