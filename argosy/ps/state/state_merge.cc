#include "argosy/ps/state/state_merge.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <set>

#include "argosy/optim/clip.h"

namespace argosy::ps {
namespace {

void add(std::span<const float> from, std::span<float> to) {
  for (size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

void divide(std::span<float> values, float count) {
  if (count == 1) return;
  for (float& value : values) value /= count;
}

}  // namespace

MergedStep::MergedStep(const Tables& tables, std::span<const Contribution* const> contributions) : tables_(tables) {
  std::set<size_t> named;
  for (const Contribution* contribution : contributions) {
    for (const TableGradient& gradient : contribution->gradients) named.insert(gradient.table);
  }
  for (const size_t table : named) {
    std::vector<const TableGradient*> parts;
    for (const Contribution* contribution : contributions) {
      const auto part = std::ranges::find(contribution->gradients, table, &TableGradient::table);
      if (part != contribution->gradients.end()) parts.push_back(&*part);
    }
    storage_.push_back(std::make_unique<Storage>());
    const float count = static_cast<float>(contributions.size());
    if (tables_.is_sparse(table)) {
      merge_sparse(table, parts, count);
    } else {
      merge_dense(table, parts, count);
    }
  }
}

void MergedStep::merge_dense(size_t table, std::span<const TableGradient* const> parts, float count) {
  std::vector<float>& values = storage_.back()->values;
  for (const TableGradient* part : parts) {
    if (part->values.empty()) continue;
    if (values.empty()) {
      values.assign(part->values.begin(), part->values.end());
    } else {
      add(part->values, values);
    }
  }
  divide(values, count);
  gradients_.push_back({.table = table, .values = values});
}

void MergedStep::merge_sparse(size_t table, std::span<const TableGradient* const> parts, float count) {
  Storage& merged = *storage_.back();
  const size_t width = tables_.spec().tables[table].width;
  const bool statistics = std::ranges::any_of(parts, [](const TableGradient* part) { return !part->shows.empty(); });
  size_t total = 0;
  for (const TableGradient* part : parts) total += part->keys.size();
  absl::flat_hash_map<uint64_t, size_t> places;
  places.reserve(total);
  merged.keys.reserve(total);
  merged.values.reserve(total * width);
  for (const TableGradient* part : parts) {
    for (size_t i = 0; i < part->keys.size(); ++i) {
      const auto row = part->values.subspan(i * width, width);
      const auto [place, is_new] = places.try_emplace(part->keys[i], merged.keys.size());
      if (is_new) {
        merged.keys.push_back(part->keys[i]);
        merged.values.insert(merged.values.end(), row.begin(), row.end());
        if (statistics) merged.shows.push_back(0), merged.clicks.push_back(0);
      } else {
        add(row, std::span(merged.values).subspan(place->second * width, width));
      }
      if (!statistics) continue;
      merged.shows[place->second] += part->shows.empty() ? 1 : part->shows[i];
      merged.clicks[place->second] += part->clicks.empty() ? 0 : part->clicks[i];
    }
  }
  divide(merged.values, count);
  gradients_.push_back(
      {.table = table, .keys = merged.keys, .values = merged.values, .shows = merged.shows, .clicks = merged.clicks});
}

std::vector<double> MergedStep::norms() const {
  const std::vector<std::string> groups = tables_.spec().clip_groups();
  std::vector<double> sums(groups.size());
  for (const TableGradient& gradient : gradients_) {
    const std::string& group = tables_.spec().tables[gradient.table].clip_group;
    const auto place = std::ranges::find(groups, group);
    if (!group.empty()) sums[static_cast<size_t>(place - groups.begin())] += optim::sum_of_squares(gradient.values);
  }
  return sums;
}

void MergedStep::clip(std::span<const float> factors) {
  const std::vector<std::string> groups = tables_.spec().clip_groups();
  for (size_t i = 0; i < gradients_.size(); ++i) {
    const TableSpec& table = tables_.spec().tables[gradients_[i].table];
    const std::span<float> values = storage_[i]->values;
    if (table.value_clip) optim::clip_by_value(values, table.value_clip->min, table.value_clip->max);
    if (table.clip_group.empty() || factors.empty()) continue;
    const auto group = static_cast<size_t>(std::ranges::find(groups, table.clip_group) - groups.begin());
    optim::scale(values, factors[group]);
  }
}

}  // namespace argosy::ps
