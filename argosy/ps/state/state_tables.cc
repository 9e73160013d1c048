#include "argosy/ps/state/state_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "argosy/optim/rule.h"
#include "argosy/table/rule_states.h"

namespace argosy::ps {
namespace {

constexpr float kBySchedule = std::numeric_limits<float>::quiet_NaN();
constexpr size_t kMostSections = 64;  // of one table in a pull

// Takes arrays from the front of a payload; remembers whether one was longer than the rest.
class PayloadCursor {
 public:
  explicit PayloadCursor(std::span<const std::byte> payload) : rest_(payload) {}

  template <typename T>
  std::span<const T> take(uint64_t count) {
    if (count > rest_.size() / sizeof(T)) {
      short_ = true;
      return {};
    }
    const std::span<const T> values(reinterpret_cast<const T*>(rest_.data()), count);
    rest_ = rest_.subspan(count * sizeof(T));
    return values;
  }

  Status check(size_t bytes) const {
    if (short_) return Status::invalid_argument("the payload of {} bytes is shorter than its sections say", bytes);
    if (!rest_.empty()) {
      return Status::invalid_argument("the payload has {} bytes, {} more than its sections say", bytes, rest_.size());
    }
    return {};
  }

 private:
  std::span<const std::byte> rest_;
  bool short_ = false;
};

// The memory of a row, by which the limit is dealt to the tables.
uint64_t row_weight(const TableSpec& table) {
  const auto rule = optim::make_rule(table.rule, table.hyper_parameters);
  return table.width * (1 + (rule.ok() ? (*rule)->element_states() : 0)) + 8;
}

}  // namespace

Tables::Tables(const JobSpec& spec, const TablesOptions& options)
    : spec_(spec), options_(options), servers_(options.servers), server_(options.server), entries_(spec.tables.size()) {}

Result<std::unique_ptr<Tables>> Tables::make(const JobSpec& spec, const TablesOptions& options) {
  std::unique_ptr<Tables> tables(new Tables(spec, options));
  RETURN_IF_ERROR(tables->make_entries(options));
  return tables;
}

Status Tables::make_entries(const TablesOptions& options) {
  uint64_t weights = 0;
  for (const TableSpec& table : spec_.tables) weights += table.sparse ? row_weight(table) : 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const TableSpec& spec = spec_.tables[i];
    Entry& entry = entries_[i];
    entry.rate = kBySchedule;
    if (!spec.sparse) {
      entry.range = dense_range(spec_, i, servers_, server_);
      if (entry.range.size() == 0) continue;
      ASSIGN_OR_RETURN(entry.dense, table::DenseTable::make(spec.dense_spec(entry.range.size())));
      continue;
    }
    table::StoreOptions store;
    if (options.mem_limit_bytes > 0) {
      const double share = static_cast<double>(row_weight(spec)) / static_cast<double>(weights);
      store.mem_limit_bytes = std::max<uint64_t>(1, static_cast<uint64_t>(share * static_cast<double>(options.mem_limit_bytes)));
      store.directory = options.directory / fmt::format("table-{}", i);
    }
    ASSIGN_OR_RETURN(entry.sparse, table::SparseTable::make(spec.sparse_spec(), store));
  }
  return {};
}

Result<std::unique_ptr<Tables>> Tables::make_empty() const {
  TablesOptions options = options_;
  // A folder of its own for cold rows: these stay where they are when the tables change places.
  options.directory = options_.directory / fmt::format("copy-{}", ++copies_);
  return make(spec_, options);
}

Status Tables::adopt(Tables& filled, const std::set<size_t>& which) {
  std::set<size_t> done;
  for (const size_t table : which) {
    Status status;
    if (is_sparse(table)) {
      status = sparse(table).swap_rows(filled.sparse(table));
    } else if (dense(table) != nullptr) {
      status = dense(table)->swap(*filled.dense(table));
    }
    if (!status.ok()) {
      RETURN_IF_ERROR(adopt(filled, done));  // back
      return status;
    }
    done.insert(table);
  }
  return {};
}

Status Tables::check_sparse(uint64_t table) const {
  if (table >= size()) return Status::invalid_argument("there is no table {}; the job has {}", table, size());
  if (is_sparse(table)) return {};
  return Status::invalid_argument("table '{}' is dense; expected a sparse one", spec_.tables[table].name);
}

Status Tables::check_dense(uint64_t table) const {
  if (table >= size()) return Status::invalid_argument("there is no table {}; the job has {}", table, size());
  if (!is_sparse(table)) return {};
  return Status::invalid_argument("table '{}' is sparse; expected a dense one", spec_.tables[table].name);
}

Status Tables::check_order(const Sections& sections) const {
  int64_t last = -1;
  for (const wire::Section& section : sections) {
    if (section.table() >= size()) {
      return Status::invalid_argument("there is no table {}; the job has {}", section.table(), size());
    }
    if (static_cast<int64_t>(section.table()) <= last) {
      return Status::invalid_argument("the section of table {} comes after that of table {}; expected ascending tables",
                                      section.table(), last);
    }
    last = section.table();
  }
  return {};
}

// A sample is enough: a peer that deals keys to servers in another way gets nearly all of them wrong.
Status Tables::check_owner(std::span<const uint64_t> keys, size_t table) const {
  for (size_t i = 0; i < keys.size(); i += keys.size() / 4 + 1) {
    if (const int owner = server_of(keys[i], servers_); owner != server_) {
      return Status::invalid_argument("key {} of table '{}' belongs to server {} of {}; this is server {}", keys[i],
                                      spec_.tables[table].name, owner, servers_, server_);
    }
  }
  return {};
}

Status Tables::check_statistics(size_t table) const {
  if (sparse(table).spec().counts_show_click()) return {};
  return Status::invalid_argument("table '{}' keeps no shows and clicks, but a push has them; enable show_click in its spec",
                                  spec_.tables[table].name);
}

Result<std::vector<TableGradient>> Tables::lay_out(const Sections& sections, std::span<const std::byte> payload) const {
  RETURN_IF_ERROR(check_order(sections));
  std::vector<TableGradient> gradients(static_cast<size_t>(sections.size()));
  PayloadCursor cursor(payload);
  for (int i = 0; i < sections.size(); ++i) {
    gradients[static_cast<size_t>(i)].table = sections[i].table();
    if (is_sparse(sections[i].table())) gradients[static_cast<size_t>(i)].keys = cursor.take<uint64_t>(sections[i].count());
  }
  for (int i = 0; i < sections.size(); ++i) {
    TableGradient& gradient = gradients[static_cast<size_t>(i)];
    const TableSpec& table = spec_.tables[gradient.table];
    if (table.sparse) {
      gradient.values = cursor.take<float>(gradient.keys.size() * table.width);
      if (sections[i].statistics()) {
        RETURN_IF_ERROR(check_statistics(gradient.table));
        gradient.shows = cursor.take<float>(gradient.keys.size());
        gradient.clicks = cursor.take<float>(gradient.keys.size());
      }
      RETURN_IF_ERROR(check_owner(gradient.keys, gradient.table));
      continue;
    }
    if (sections[i].count() != 0 && sections[i].count() != range(gradient.table).size()) {
      return Status::invalid_argument("table '{}': {} elements arrived; this server holds {} of them", table.name,
                                      sections[i].count(), range(gradient.table).size());
    }
    gradient.values = cursor.take<float>(sections[i].count());
  }
  RETURN_IF_ERROR(cursor.check(payload.size()));
  return gradients;
}

Result<std::vector<TableGradient>> Tables::lay_out_keys(const Sections& sections, std::span<const std::byte> payload) const {
  if (static_cast<size_t>(sections.size()) > kMostSections * size()) {
    return Status::invalid_argument("a pull has {} sections; expected {} at most, for {} tables", sections.size(),
                                    kMostSections * size(), size());
  }
  std::vector<TableGradient> requests;
  PayloadCursor cursor(payload);
  for (const wire::Section& section : sections) {
    RETURN_IF_ERROR(check_sparse(section.table()));
    requests.push_back({.table = section.table(), .keys = cursor.take<uint64_t>(section.count())});
    RETURN_IF_ERROR(check_owner(requests.back().keys, section.table()));
  }
  RETURN_IF_ERROR(cursor.check(payload.size()));
  return requests;
}

Result<TableGradient> Tables::lay_out_state(uint64_t table, uint64_t keys, std::span<const std::byte> payload) const {
  RETURN_IF_ERROR(keys > 0 ? check_sparse(table) : table < size() ? Status() : check_sparse(table));
  PayloadCursor cursor(payload);
  TableGradient part{.table = table, .keys = cursor.take<uint64_t>(keys)};
  RETURN_IF_ERROR(check_owner(part.keys, table));
  const uint64_t rest = payload.size() - std::min<uint64_t>(payload.size(), keys * sizeof(uint64_t));
  part.values = cursor.take<float>(rest / sizeof(float));
  RETURN_IF_ERROR(cursor.check(payload.size()));
  return part;
}

Result<uint64_t> Tables::state_numbers(size_t table, uint64_t state, uint64_t keys) const {
  const TableSpec& spec = spec_.tables[table];
  ASSIGN_OR_RETURN(const auto rule, optim::make_rule(spec.rule, spec.hyper_parameters));
  ASSIGN_OR_RETURN(const table::StatePlace place, table::find_state(spec.geo ? nullptr : rule.get(), state, spec.name));
  if (place.scalar) return 1;
  return is_sparse(table) ? keys * spec.width : range(table).size();
}

std::vector<uint32_t> Tables::uninitialised() const {
  std::vector<uint32_t> tables;
  for (size_t i = 0; i < size(); ++i) {
    if (dense(i) != nullptr && !dense(i)->initialised()) tables.push_back(static_cast<uint32_t>(i));
  }
  return tables;
}

Status Tables::check_initialised(std::span<const TableGradient> gradients) const {
  for (const TableGradient& gradient : gradients) {
    if (gradient.values.empty() || is_sparse(gradient.table) || dense(gradient.table)->initialised()) continue;
    return Status::failed_precondition(
        "dense table '{}' has no value yet; the first worker sets it before anybody trains (init_worker after the startup "
        "program), or a saved model does",
        spec_.tables[gradient.table].name);
  }
  return {};
}

Status Tables::check_room(std::span<const TableGradient> gradients) const {
  for (const TableGradient& gradient : gradients) {
    if (!gradient.keys.empty()) RETURN_IF_ERROR(sparse(gradient.table).check_room());
  }
  return {};
}

Status Tables::apply(std::span<const TableGradient> gradients, uint64_t step, uint32_t seconds, uint32_t worker) const {
  for (const TableGradient& gradient : gradients) {
    const float rate_now = rate(gradient.table, step);
    const bool geo = spec_.tables[gradient.table].geo;
    Status status;
    if (is_sparse(gradient.table)) {
      const table::TableStep table_step = sparse(gradient.table).begin_step(rate_now, seconds);
      if (gradient.keys.empty()) continue;
      status = geo ? sparse(gradient.table).add(table_step, worker, gradient.keys, gradient.values)
                   : sparse(gradient.table).apply(table_step, gradient.keys, gradient.values, {gradient.shows, gradient.clicks});
    } else if (!gradient.values.empty()) {
      table::DenseTable& table = *dense(gradient.table);
      status = geo ? table.add(gradient.values) : table.apply(rate_now, gradient.values);
    }
    if (!status.ok()) return status.with_context("table '{}'", spec_.tables[gradient.table].name);
  }
  return {};
}

void Tables::count_left_out(const Sections& sections) {
  for (const wire::Section& section : sections) {
    if (section.nonfinite() > 0) entries_[section.table()].left_out.fetch_add(section.nonfinite());
  }
}

float Tables::rate(size_t table, uint64_t step) const {
  const TableSpec& spec = spec_.tables[table];
  const float set = entries_[table].rate.load(std::memory_order_relaxed);
  return (std::isnan(set) ? spec.schedule.value(static_cast<int64_t>(step)) : set) * spec.rate_factor;
}

void Tables::set_rate(size_t table, std::optional<float> rate) {
  entries_[table].rate.store(rate.value_or(kBySchedule), std::memory_order_relaxed);
}

std::optional<float> Tables::set_rate_of(size_t table) const {
  const float set = entries_[table].rate.load(std::memory_order_relaxed);
  return std::isnan(set) ? std::nullopt : std::optional<float>(set);
}

}  // namespace argosy::ps
