#include "argosy/ps/state/nonfinite.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "argosy/base/counted.h"
#include "argosy/base/notice.h"
#include "argosy/optim/finite.h"

namespace argosy::ps {
namespace {

// The rows of a gradient: of a dense table the whole section is one.
struct Rows {
  const TableGradient& gradient;
  size_t count, width;

  Rows(const Tables& tables, const TableGradient& of)
      : gradient(of),
        count(tables.is_sparse(of.table) ? of.keys.size() : std::min<size_t>(1, of.values.size())),
        width(tables.is_sparse(of.table) ? tables.spec().tables[of.table].width : of.values.size()) {}

  std::span<const float> values(size_t row) const { return gradient.values.subspan(row * width, width); }
  std::span<const float> show(size_t row) const {
    return gradient.shows.empty() ? gradient.shows : gradient.shows.subspan(row, 1);
  }
  std::span<const float> click(size_t row) const {
    return gradient.clicks.empty() ? gradient.clicks : gradient.clicks.subspan(row, 1);
  }
  bool is_finite(size_t row) const {
    return optim::all_finite(values(row)) && optim::all_finite(show(row)) && optim::all_finite(click(row));
  }
};

bool is_finite(const TableGradient& gradient) {
  return optim::all_finite(gradient.values) && optim::all_finite(gradient.shows) && optim::all_finite(gradient.clicks);
}

// What is wrong with a row, for messages.
std::string first_bad(const Tables& tables, const Rows& rows, size_t row) {
  const TableGradient& gradient = rows.gradient;
  const std::string& table = tables.spec().tables[gradient.table].name;
  for (size_t i = 0; i < rows.width; ++i) {
    if (std::isfinite(rows.values(row)[i])) continue;
    if (!tables.is_sparse(gradient.table)) {
      return fmt::format("table '{}', element {}: the gradient is {}", table, tables.range(gradient.table).begin + i,
                         rows.values(row)[i]);
    }
    return fmt::format("table '{}', key {}: number {} of its gradient is {}", table, gradient.keys[row], i, rows.values(row)[i]);
  }
  return fmt::format("table '{}', key {}: its shows or clicks are not finite", table, gradient.keys[row]);
}

// The rows of a push that are not finite.
struct BadRows {
  std::vector<uint64_t> counts;  // of each gradient
  std::string first;             // in words
};

BadRows bad_rows(const Tables& tables, std::span<const TableGradient> gradients) {
  BadRows bad{std::vector<uint64_t>(gradients.size()), {}};
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (is_finite(gradients[i])) continue;
    const Rows rows(tables, gradients[i]);
    for (size_t row = 0; row < rows.count; ++row) {
      if (rows.is_finite(row)) continue;
      if (bad.first.empty()) bad.first = first_bad(tables, rows, row);
      ++bad.counts[i];
    }
  }
  return bad;
}

// A push is of one batch, or of several whose gradients or differences are merged: which of those it was, nobody knows by then.
std::string batch_text(const wire::PushRequest& push) {
  const auto [first, last] = std::ranges::minmax(push.batches());
  const std::string batches = first == last ? fmt::format("batch {}", index_of(first))
                                            : fmt::format("one of batches {} to {}", index_of(first), index_of(last));
  return fmt::format("worker {}, {} of pass {}", push.caller().worker(), batches, round_of(first));
}

float clipped(float number, const TableSpec& table) {
  if (std::isfinite(number)) return number;
  if (std::isnan(number) || !table.value_clip) return 0;
  const float bound = number > 0 ? table.value_clip->max : table.value_clip->min;
  return std::isfinite(bound) ? bound : 0;  // a clip of one side has no bound on the other
}

// A payload that is put together again, with the rows that are left.
class Rebuilt {
 public:
  Rebuilt(const Tables& tables, Nonfinite policy) : tables_(tables), policy_(policy) {}

  // Returns the section's new count.
  uint64_t add(const TableGradient& gradient) {
    const TableSpec& spec = tables_.spec().tables[gradient.table];
    const Rows rows(tables_, gradient);
    std::vector<float> shows, clicks;
    uint64_t left = 0;
    for (size_t row = 0; row < rows.count; ++row) {
      if (policy_ == Nonfinite::skip && !rows.is_finite(row)) continue;
      ++left;
      if (tables_.is_sparse(gradient.table)) keys_.push_back(gradient.keys[row]);
      for (const float number : rows.values(row)) floats_.push_back(clipped(number, spec));
      for (const float number : rows.show(row)) shows.push_back(std::isfinite(number) ? number : 0);
      for (const float number : rows.click(row)) clicks.push_back(std::isfinite(number) ? number : 0);
    }
    floats_.insert(floats_.end(), shows.begin(), shows.end());
    floats_.insert(floats_.end(), clicks.begin(), clicks.end());
    return tables_.is_sparse(gradient.table) ? left : left * rows.width;
  }

  void put(FinitePush& push) const {
    const size_t key_bytes = keys_.size() * sizeof(uint64_t), float_bytes = floats_.size() * sizeof(float);
    push.payload_bytes = key_bytes + float_bytes;
    push.payload = std::make_shared<std::vector<uint64_t>>(push.payload_bytes / 8 + 1);
    std::byte* const to = reinterpret_cast<std::byte*>(push.payload->data());
    if (key_bytes > 0) std::memcpy(to, keys_.data(), key_bytes);
    if (float_bytes > 0) std::memcpy(to + key_bytes, floats_.data(), float_bytes);
  }

 private:
  const Tables& tables_;
  const Nonfinite policy_;
  std::vector<uint64_t> keys_;
  std::vector<float> floats_;
};

}  // namespace

bool is_finite(std::span<const TableGradient> gradients) {
  for (const TableGradient& gradient : gradients) {
    if (!is_finite(gradient)) return false;
  }
  return true;
}

Status nonfinite_gradient(Tables& tables, const wire::PushRequest& push, std::span<const TableGradient> gradients) {
  const BadRows bad = bad_rows(tables, gradients);
  for (size_t i = 0; i < gradients.size(); ++i) tables.count_refused(gradients[i].table, bad.counts[i]);
  return Status::invalid_argument("{}: {}; {}", batch_text(push), bad.first, kNonfiniteAdvice);
}

Record FinitePush::record(uint32_t seconds) const {
  return {wire::PUSH, seconds, header, {reinterpret_cast<const std::byte*>(payload->data()), payload_bytes}, payload};
}

std::optional<FinitePush> make_finite(const Tables& tables, const Record& record, Nonfinite policy) {
  auto push = parse<wire::PushRequest>(record);
  if (!push.ok() || push->batches_size() == 0) return std::nullopt;
  const auto gradients = tables.lay_out(push->sections(), record.payload);
  if (!gradients.ok() || is_finite(*gradients)) return std::nullopt;
  const BadRows bad = bad_rows(tables, *gradients);
  bool news = false;  // of a table that has had none before
  Rebuilt rebuilt(tables, policy);
  for (size_t i = 0; i < gradients->size(); ++i) {
    wire::Section* const section = push->mutable_sections(static_cast<int>(i));
    section->set_count(rebuilt.add((*gradients)[i]));
    section->set_nonfinite(section->nonfinite() + bad.counts[i]);
    news = news || (bad.counts[i] > 0 && tables.left_out((*gradients)[i].table) == 0);
  }
  if (news) {
    notice(LogLevel::warning, "{}: {}; it is {}, as nonfinite={} says, and so are all later ones, which are counted",
           batch_text(*push), bad.first, nonfinite_outcome(policy), nonfinite_name(policy));
  }
  FinitePush finite;
  finite.header = push->SerializeAsString();
  rebuilt.put(finite);
  return finite;
}

std::string nonfinite_counts(const Tables& tables) {
  std::string text;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables.nonfinite(i) == 0) continue;
    text += fmt::format("{}{} of table '{}'", text.empty() ? "" : ", ", counted(tables.nonfinite(i), "gradient"),
                        tables.spec().tables[i].name);
  }
  return text;
}

}  // namespace argosy::ps
