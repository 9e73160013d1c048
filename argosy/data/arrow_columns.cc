#include "argosy/data/arrow_columns.h"

#include <algorithm>
#include <type_traits>

#include "argosy/base/text.h"
#include "argosy/data/arrow_source.h"

namespace argosy::data {

struct ArrowColumns::Slot {
  SlotSpec spec;
  std::vector<ArrowSource> sources;
  bool replaces = false;  // missing values, by:
  int64_t integer = 0;
  float real = 0;

  template <typename T>
  T replacement() const {
    if constexpr (std::is_integral_v<T>)
      return integer;
    else
      return real;
  }
};

namespace {

using Slot = ArrowColumns::Slot;

Status fits(const SlotSpec& slot, const ArrowSource& source, size_t sources) {
  if (slot.type == SlotType::int64 && !is_integer(source.kind)) {
    return Status::invalid_argument(
        "column '{}' has floats, and slot '{}' takes int64; declare it float32, or write the column as integers", source.column,
        slot.name);
  }
  const bool list = source.shape != ArrowShape::one;
  if (sources > 1 && list)
    return Status::invalid_argument(
        "column '{}' has lists; of {} columns that fill slot '{}' together each has one value per row", source.column, sources,
        slot.name);
  if (!slot.dense) return {};
  if (sources > 1) {
    if (static_cast<int64_t>(sources) == slot.width) return {};
    return Status::invalid_argument("slot '{}' is dense and has {} values per sample; it was given {} columns", slot.name,
                                    slot.width, sources);
  }
  const bool open = source.shape == ArrowShape::list || source.shape == ArrowShape::large_list;  // each row is looked at
  if (open || source.size == slot.width) return {};
  return Status::invalid_argument("column '{}' has {} per row, and slot '{}' is dense and has {} values per sample",
                                  source.column, list ? fmt::format("a list of {} values", source.size) : "one value", slot.name,
                                  slot.width);
}

Status set_default(const ColumnOptions& options, Slot& slot) {
  const auto found = options.defaults.find(slot.spec.name);
  if (found == options.defaults.end()) return {};
  slot.replaces = true;
  if (const int64_t* integer = std::get_if<int64_t>(&found->second)) {
    slot.integer = *integer;
    slot.real = static_cast<float>(*integer);
    return {};
  }
  const double real = std::get<double>(found->second);
  slot.real = static_cast<float>(real);
  if (slot.spec.type != SlotType::float32)
    return Status::invalid_argument("the default of slot '{}' is {}, expected an integer: the slot is int64", slot.spec.name,
                                    real);
  if (!is_beyond_float(real)) return {};
  return Status::invalid_argument("the default of slot '{}' is {}, which a float32 cannot hold (at most 3.4e38)", slot.spec.name,
                                  real);
}

Result<int> find_field(const ArrowSchema& schema, const std::string& column, const std::string& slot) {
  std::vector<std::string> names;
  int found = -1;
  for (int i = 0; i < schema.n_children; ++i) {
    const char* name = schema.children[i]->name;
    names.emplace_back(name == nullptr ? "" : name);
    if (names.back() != column) continue;
    if (found >= 0) return Status::invalid_argument("two columns have the name '{}'; slot '{}' takes one", column, slot);
    found = i;
  }
  if (found >= 0) return found;
  const auto near = nearest_name(column, names);
  constexpr size_t kNamed = 8;
  const size_t named = std::min(names.size(), kNamed);
  const std::string some = join({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named)}, ", ");
  return Status::invalid_argument(
      "there is no column '{}', which slot '{}' needs{}; the {} columns are {}{}. A slot takes the column of its "
      "name, or those that set_columns names",
      column, slot, near ? "; did you mean '" + *near + "'?" : "", names.size(), some, names.size() > named ? ", …" : "");
}

Result<Slot> make_slot(const ArrowSchema& schema, const SlotSpec& spec, const ColumnOptions& options) {
  Slot slot{.spec = spec, .sources = {}};
  const auto given = options.columns.find(spec.name);
  const std::vector<std::string> columns = given == options.columns.end() ? std::vector{spec.name} : given->second;
  if (columns.empty()) return Status::invalid_argument("set_columns gives slot '{}' an empty list of columns", spec.name);
  for (const std::string& column : columns) {
    ASSIGN_OR_RETURN(const int field, find_field(schema, column, spec.name));
    ASSIGN_OR_RETURN(const ArrowSource source, arrow_source(*schema.children[field], field));
    RETURN_IF_ERROR(fits(spec, source, columns.size()));
    slot.sources.push_back(source);
  }
  RETURN_IF_ERROR(set_default(options, slot));
  return slot;
}

// A row of a dense slot that is a list: what is wrong with its length.
std::optional<std::string> bad_length(const Slot& slot, const ArrowView& view, int64_t row) {
  if (view.list_missing(row)) {
    if (slot.replaces) return std::nullopt;
    return fmt::format("column '{}' has no list (null), and slot '{}' is dense: give it a default (set_columns)",
                       view.source.column, slot.spec.name);
  }
  const int64_t found = view.begin_of(row + 1) - view.begin_of(row);
  if (found == slot.spec.width) return std::nullopt;
  return fmt::format("column '{}' has a list of {} values, expected {}: slot '{}' is dense", view.source.column, found,
                     slot.spec.width, slot.spec.name);
}

std::optional<ArrowColumns::BadRow> first_bad_of(const Slot& slot, const ArrowSource& source, const ArrowArray& rows,
                                                 int64_t first, int64_t count) {
  const ArrowView view(source, rows);
  const bool sized = source.shape == ArrowShape::one || source.shape == ArrowShape::fixed_list;
  if (sized && (slot.replaces || view.whole(first, first + count))) return std::nullopt;
  for (int64_t row = first; row < first + count; ++row) {
    if (view.lists()) {
      if (auto what = bad_length(slot, view, row)) return ArrowColumns::BadRow{row, std::move(*what)};
      if (view.list_missing(row)) continue;
    }
    if (slot.replaces || !view.numbers.any_missing(view.begin_of(row), view.begin_of(row + 1))) continue;
    return ArrowColumns::BadRow{
        row, fmt::format("column '{}' has no value (null), and slot '{}' is dense: give it a default (set_columns), "
                         "or make the slot ragged (lod_level 1)",
                         source.column, slot.spec.name)};
  }
  return std::nullopt;
}

std::optional<ArrowColumns::BadRow> first_too_large(const ArrowSource& source, const ArrowArray& rows, int64_t first,
                                                    int64_t count) {
  const ArrowView view(source, rows);
  if (!view.numbers.first_beyond_float(view.begin_of(first), view.begin_of(first + count))) return std::nullopt;
  for (int64_t row = first; row < first + count; ++row) {
    if (view.list_missing(row)) continue;
    if (const auto found = view.numbers.first_beyond_float(view.begin_of(row), view.begin_of(row + 1)))
      return ArrowColumns::BadRow{row, fmt::format("column '{}' has {}, which a float32 cannot hold (at most 3.4e38): scale the "
                                                   "column, or leave the row out",
                                                   source.column, *found)};
  }
  return std::nullopt;
}

// One row's values, without those that are missing or with the slot's default for them; returns how many.
template <typename T>
int64_t copy_row(const Slot& slot, const ArrowView& view, int64_t row, T* out) {
  if (view.list_missing(row)) {
    if (!slot.replaces) return 0;
    const int64_t count = slot.spec.dense ? slot.spec.width : 1;
    std::fill_n(out, count, slot.replacement<T>());
    return count;
  }
  int64_t written = 0;
  for (int64_t at = view.begin_of(row); at < view.begin_of(row + 1); ++at) {
    if (view.numbers.missing(at)) {
      if (slot.replaces) out[written++] = slot.replacement<T>();
      continue;
    }
    view.numbers.copy<T>(at, at + 1, out + written++);
  }
  return written;
}

int64_t most_values(const Slot& slot, const ArrowView& view, int64_t row) {
  return std::max(slot.spec.width, view.begin_of(row + 1) - view.begin_of(row));
}

template <typename T>
void append_one_column(const Slot& slot, const ArrowArray& rows, int64_t first, int64_t count, Column& column) {
  const ArrowView view(slot.sources[0], rows);
  const int64_t end = first + count;
  if (!view.whole(first, end)) {
    for (int64_t row = first; row < end; ++row)
      column.add_sample(copy_row<T>(slot, view, row, column.room<T>(most_values(slot, view, row))));
    return;
  }
  const int64_t values = view.begin_of(end) - view.begin_of(first);
  view.numbers.copy<T>(view.begin_of(first), view.begin_of(end), column.room<T>(values));
  if (slot.spec.dense || slot.sources[0].shape == ArrowShape::one) {
    column.add_samples(count, slot.spec.dense ? slot.spec.width : 1);
    return;
  }
  for (int64_t row = first; row < end; ++row) column.add_sample(view.begin_of(row + 1) - view.begin_of(row));
}

template <typename T>
void append_columns(const Slot& slot, const ArrowArray& rows, int64_t first, int64_t count, Column& column) {
  const auto width = static_cast<int64_t>(slot.sources.size());
  std::vector<ArrowView> views;
  bool whole = true;
  for (const ArrowSource& source : slot.sources) {
    views.emplace_back(source, rows);
    whole = whole && views.back().whole(first, first + count);
  }
  if (whole) {
    T* out = column.room<T>(count * width);
    for (int64_t i = 0; i < width; ++i) {
      const ArrowView& view = views[static_cast<size_t>(i)];
      view.numbers.copy<T>(view.begin_of(first), view.begin_of(first + count), out + i, width);
    }
    column.add_samples(count, width);
    return;
  }
  for (int64_t row = first; row < first + count; ++row) {
    T* out = column.room<T>(width);
    int64_t written = 0;
    for (const ArrowView& view : views) written += copy_row<T>(slot, view, row, out + written);
    column.add_sample(written);
  }
}

template <typename T>
void append_slot(const Slot& slot, const ArrowArray& rows, int64_t first, int64_t count, Column& column) {
  slot.sources.size() == 1 ? append_one_column<T>(slot, rows, first, count, column)
                           : append_columns<T>(slot, rows, first, count, column);
}

}  // namespace

ArrowColumns::ArrowColumns(std::vector<Slot> slots, std::vector<int> fields)
    : slots_(std::move(slots)), fields_(std::move(fields)) {}
ArrowColumns::~ArrowColumns() = default;

Status ArrowColumns::check_options(std::span<const SlotSpec> slots, const ColumnOptions& options) {
  std::vector<std::string> names;
  for (const SlotSpec& slot : slots) names.push_back(slot.name);
  const auto check = [&](const std::string& name) {
    if (std::ranges::find(names, name) != names.end()) return Status();
    const auto near = nearest_name(name, names);
    return Status::invalid_argument("set_columns names slot '{}', which the dataset does not have{}", name,
                                    near ? "; did you mean '" + *near + "'?" : "");
  };
  for (const auto& [name, columns] : options.columns) RETURN_IF_ERROR(check(name));
  for (const auto& [name, value] : options.defaults) RETURN_IF_ERROR(check(name));
  return {};
}

Result<std::shared_ptr<const ArrowColumns>> ArrowColumns::make(const ArrowSchema& schema, Rows rows,
                                                               std::span<const SlotSpec> slots, const ColumnOptions& options,
                                                               std::string_view name) {
  RETURN_IF_ERROR(check_options(slots, options));
  std::vector<Slot> made;
  std::vector<int> fields;
  for (const SlotSpec& spec : slots) {
    auto slot = make_slot(schema, spec, options);
    if (!slot.ok()) return slot.status().with_context("{}", name);
    for (const ArrowSource& source : slot->sources) fields.push_back(source.field);
    made.push_back(std::move(*slot));
  }
  std::ranges::sort(fields);
  fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
  if (rows == Rows::projected) {
    for (Slot& slot : made) {
      for (ArrowSource& source : slot.sources)
        source.field = static_cast<int>(std::ranges::lower_bound(fields, source.field) - fields.begin());
    }
  }
  return std::shared_ptr<const ArrowColumns>(new ArrowColumns(std::move(made), std::move(fields)));
}

Status ArrowColumns::check(const ArrowArray& rows) const {
  if (rows.length < 0 || rows.offset < 0) return Status::invalid_argument("rows of a negative number");
  if (rows.n_buffers > 0 && rows.buffers[0] != nullptr && rows.null_count != 0)
    return Status::invalid_argument("the table has whole rows that are missing (null structs)");
  for (const Slot& slot : slots_) {
    for (const ArrowSource& source : slot.sources) {
      if (!is_laid_out(source, rows))
        return Status::invalid_argument("column '{}' is not laid out as its schema says", source.column);
    }
  }
  return {};
}

std::optional<ArrowColumns::BadRow> ArrowColumns::first_bad(const ArrowArray& rows, int64_t first, int64_t count) const {
  std::optional<BadRow> bad;
  const auto take = [&](std::optional<BadRow> found) {  // of rows before the bad one that is known
    if (found) bad = std::move(found);
  };
  for (const Slot& slot : slots_) {
    for (const ArrowSource& source : slot.sources) {
      if (slot.spec.dense) take(first_bad_of(slot, source, rows, first, bad ? bad->row - first : count));
      if (source.kind == ArrowKind::float64) take(first_too_large(source, rows, first, bad ? bad->row - first : count));
    }
  }
  return bad;
}

void ArrowColumns::append(const ArrowArray& rows, int64_t first, int64_t count, Batch& batch) const {
  for (size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].spec.type == SlotType::float32 ? append_slot<float>(slots_[i], rows, first, count, batch.columns[i])
                                             : append_slot<int64_t>(slots_[i], rows, first, count, batch.columns[i]);
  }
  batch.size += count;
}

}  // namespace argosy::data
