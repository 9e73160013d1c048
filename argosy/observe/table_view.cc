#include "argosy/observe/table_view.h"

#include "argosy/base/text.h"

namespace argosy::observe {

double TableView::rows_looked_at() const {
  double all = 0;
  for (const auto& [bound, count] : rows_by_norm) all += count;
  return all;
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
  rows += part.rows;
  cold_rows += part.cold_rows;
  memory_bytes += part.memory_bytes;
}

std::map<std::string, TableView> tables_of(const std::vector<Sample>& samples) {
  std::map<std::string, TableView> tables;
  for (const Sample& sample : samples) {
    const std::string name(sample.label("table"));
    if (name.empty()) continue;
    TableView& table = tables.try_emplace(name, TableView{.name = name}).first->second;
    if (sample.name == "argosy_server_table_rows") table.rows = sample.value;
    if (sample.name == "argosy_server_table_cold_rows") table.cold_rows = sample.value;
    if (sample.name == "argosy_server_table_memory_bytes") table.memory_bytes = sample.value;
    if (sample.name == "argosy_server_table_norm") table.norm = sample.value;
    if (sample.name == "argosy_server_table_rows_by_norm") {
      const auto bound = parse_number(sample.label("norm_up_to"));
      table.rows_by_norm[bound && std::isfinite(*bound) ? *bound : std::numeric_limits<double>::max()] += sample.value;
    }
  }
  return tables;
}

}  // namespace argosy::observe
