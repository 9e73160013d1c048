#include "argosy/ps/spec/job_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace argosy::ps {
namespace {

template <typename... Args>
Status bad(const TableSpec& table, fmt::format_string<Args...> format, Args&&... args) {
  return Status::invalid_argument("table '{}': {}", table.name, fmt::format(format, std::forward<Args>(args)...));
}

Status check_finite(const TableSpec& table, std::string_view field, float value) {
  if (std::isfinite(value)) return {};
  return bad(table, "{} is {}; expected a finite number", field, value);
}

// The shape: what only one of the two kinds of table has.
Status check_shape(const TableSpec& table) {
  if (table.sparse) {
    if (table.width == 0) return bad(table, "width is 0; a sparse table needs at least 1");
    if (table.width > (1u << 20)) return bad(table, "width is {}; expected at most {}", table.width, 1u << 20);
    if (table.size != 0) return bad(table, "size is {}; a sparse table has width and declared_rows instead", table.size);
    return table.sparse_spec().check();
  }
  if (table.size == 0) return bad(table, "size is 0; a dense table needs at least 1 element");
  if (table.size > (uint64_t{1} << 40)) return bad(table, "size is {}; expected at most {}", table.size, uint64_t{1} << 40);
  if (table.width != 0) return bad(table, "width is {}; a dense table has size instead", table.width);
  if (table.declared_rows != 0) return bad(table, "declared_rows is {}; a dense table has none", table.declared_rows);
  if (!(table.admission == Admission{})) return bad(table, "admission is set; a dense table has none");
  if (!(table.expiry == Expiry{})) return bad(table, "expiry is set; a dense table has none");
  if (!(table.show_click == ShowClick{})) return bad(table, "show_click is set; a dense table has none");
  return table.dense_spec(table.size).check();
}

Status check_training(const TableSpec& table, Mode mode) {
  if (auto rule = optim::make_rule(table.rule, table.hyper_parameters); !rule.ok()) {
    return rule.status().with_context("table '{}'", table.name);
  }
  if (Status s = table.schedule.check(); !s.ok()) return s.with_context("table '{}': schedule", table.name);
  RETURN_IF_ERROR(check_finite(table, "rate_factor", table.rate_factor));
  if (table.regularization) {
    if (Status s = table.regularization->check(); !s.ok()) return s.with_context("table '{}': regularization", table.name);
  }
  if (table.value_clip && !(table.value_clip->min <= table.value_clip->max)) {
    return bad(table, "value_clip is from {} to {}; the maximum is below the minimum", table.value_clip->min,
               table.value_clip->max);
  }
  const bool clips = !table.clip_group.empty() || table.value_clip;
  if (clips && mode != Mode::sync) {
    return bad(table, "{} is set in {} mode; servers clip in sync mode only, in the others a worker does before it sends",
               table.clip_group.empty() ? "value_clip" : "clip_group", mode_name(mode));
  }
  if (table.geo != (mode == Mode::geo)) return bad(table, "geo is {} in {} mode", table.geo ? "set" : "not set", mode_name(mode));
  if (table.geo && table.wire_format != WireFormat::float32) {
    return bad(
        table,
        "wire_format is {} in geo mode; differences travel as float32 there: what rounding left out of one would never come",
        wire_format_name(table.wire_format));
  }
  if (table.geo && !(*optim::find_rule(table.rule))->elementwise) {
    return bad(table,
               "the rule is '{}', whose update of an element depends on the others; in geo mode a worker trains parts of a "
               "parameter, by rules such as sgd, adagrad and adam",
               table.rule);
  }
  return {};
}

// The blocks that a dense table is cut into.
uint64_t blocks_of(const TableSpec& table, int servers) {
  const auto info = optim::find_rule(table.rule);
  if (!table.geo && info.ok() && !(*info)->elementwise) return 1;
  return std::clamp<uint64_t>(table.size / kDenseBlock, 1, static_cast<uint64_t>(servers));
}

}  // namespace

std::string_view mode_name(Mode mode) {
  switch (mode) {
    case Mode::sync: return "sync";
    case Mode::half_async: return "half_async";
    case Mode::async: return "async";
    case Mode::geo: return "geo";
  }
  return "unknown";
}

Status JobSpec::check() const {
  if (workers < 1 || workers > 65536) return Status::invalid_argument("workers is {}; expected 1 to 65536", workers);
  if (tables.size() > 65536) return Status::invalid_argument("the job has {} tables; expected at most 65536", tables.size());
  std::set<std::string_view> names;
  for (size_t i = 0; i < tables.size(); ++i) {
    const TableSpec& table = tables[i];
    if (table.name.empty()) return Status::invalid_argument("table {}: name is empty", i);
    if (!names.insert(table.name).second) {
      return Status::invalid_argument("two tables have the name '{}'; the second is table {}", table.name, i);
    }
    RETURN_IF_ERROR(check_shape(table));
    RETURN_IF_ERROR(check_training(table, mode));
  }
  return {};
}

table::SparseSpec TableSpec::sparse_spec() const {
  return {.name = name,
          .width = width,
          .declared_rows = declared_rows,
          .initializer = initializer,
          .mode = geo ? table::Mode::geo : table::Mode::gradient,
          .rule = rule,
          .hyper_parameters = hyper_parameters,
          .regularization = geo ? std::nullopt : regularization,
          .admission = admission,
          .expiry = expiry,
          .show_click = show_click};
}

table::DenseSpec TableSpec::dense_spec(uint64_t elements) const {
  return {.name = name,
          .size = elements,
          .mode = geo ? table::Mode::geo : table::Mode::gradient,
          .rule = rule,
          .hyper_parameters = hyper_parameters,
          .regularization = geo ? std::nullopt : regularization};
}

std::vector<std::string> JobSpec::clip_groups() const {
  std::vector<std::string> groups;
  for (const TableSpec& table : tables) {
    if (!table.clip_group.empty() && std::ranges::find(groups, table.clip_group) == groups.end()) {
      groups.push_back(table.clip_group);
    }
  }
  return groups;
}

Range dense_range(const JobSpec& spec, size_t table, int servers, int server) {
  uint64_t dealt = 0;  // blocks of the tables before
  for (size_t i = 0; i < table; ++i) {
    if (!spec.tables[i].sparse) dealt += blocks_of(spec.tables[i], servers);
  }
  const uint64_t n = static_cast<uint64_t>(servers), blocks = blocks_of(spec.tables[table], servers);
  const uint64_t block = (static_cast<uint64_t>(server) + n - dealt % n) % n;
  if (block >= blocks) return {};
  // Sizes stay below 2^40 and blocks below 2^16, so the products fit.
  return {spec.tables[table].size * block / blocks, spec.tables[table].size * (block + 1) / blocks};
}

}  // namespace argosy::ps
