#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "argosy/observe/metrics.h"

namespace argosy::observe {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
inline bool is_known(double value) { return !std::isnan(value); }

// A table of the job, on one server or over all of them. A plain value.
struct TableView {
  std::string name;
  double rows = 0, cold_rows = 0, memory_bytes = 0;
  double norm = kUnknown;  // of a dense table; of a sparse one, the mean of the rows that were looked at
  std::map<double, double> rows_by_norm = {};  // of these rows: bound -> how many are in its bucket; empty for a dense table

  // Pushes of it by their staleness in batches: bound -> how many are in its bucket; and the sum of these batches.
  std::map<double, double> pushes_by_staleness = {};
  double staleness_sum = 0;

  // Takes in what another server has of it.
  void add(const TableView& part);
  double rows_looked_at() const;
  double mean_staleness() const;  // in batches; kUnknown: nothing is known of any push
};

// The tables that one server's report speaks of, by name.
std::map<std::string, TableView> tables_of(const std::vector<Sample>& samples);

}  // namespace argosy::observe
