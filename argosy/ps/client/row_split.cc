#include "argosy/ps/client/row_split.h"

#include <cstring>

#include "argosy/ps/spec/job_spec.h"

namespace argosy::ps {

void RowSplit::assign(std::span<const std::span<const uint64_t>> lists, int servers) {
  servers_ = servers;
  lists_ = lists.size();
  counts_.assign(static_cast<size_t>(servers) * lists_, 0);
  if (servers == 1) {
    for (size_t list = 0; list < lists_; ++list) counts_[list] = lists[list].size();
    return;
  }
  starts_.assign(counts_.size(), 0);
  size_t total = 0;
  for (const auto& list : lists) total += list.size();
  if (places_.size() < total) places_.resize(total);
  size_t used = 0;
  for (size_t list = 0; list < lists_; ++list) {
    const auto keys = lists[list];
    if (owners_.size() < keys.size()) owners_.resize(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      owners_[i] = static_cast<uint16_t>(server_of(keys[i], servers));
      counts_[cell(owners_[i], list)] += 1;
    }
    for (int server = 0; server < servers; ++server) {
      starts_[cell(server, list)] = used;
      used += counts_[cell(server, list)];
    }
    for (size_t i = 0; i < keys.size(); ++i) places_[starts_[cell(owners_[i], list)]++] = static_cast<uint32_t>(i);
    for (int server = 0; server < servers; ++server) starts_[cell(server, list)] -= counts_[cell(server, list)];
  }
}

size_t RowSplit::count(int server) const {
  size_t total = 0;
  for (size_t list = 0; list < lists_; ++list) total += count(server, list);
  return total;
}

void RowSplit::copy_keys(int server, size_t list, std::span<const uint64_t> keys, uint64_t* to) const {
  if (servers_ == 1) {
    if (!keys.empty()) std::memcpy(to, keys.data(), keys.size_bytes());
    return;
  }
  for (const uint32_t place : places(server, list)) *to++ = keys[place];
}

void RowSplit::gather(int server, size_t list, const float* rows, size_t width, float* to) const {
  if (servers_ == 1) {
    if (count(server, list) > 0) std::memcpy(to, rows, count(server, list) * width * sizeof(float));
    return;
  }
  for (const uint32_t place : places(server, list)) {
    std::memcpy(to, rows + place * width, width * sizeof(float));
    to += width;
  }
}

void RowSplit::scatter(int server, size_t list, const float* from, size_t width, float* rows) const {
  if (servers_ == 1) {
    if (count(server, list) > 0) std::memcpy(rows, from, count(server, list) * width * sizeof(float));
    return;
  }
  for (const uint32_t place : places(server, list)) {
    std::memcpy(rows + place * width, from, width * sizeof(float));
    from += width;
  }
}

}  // namespace argosy::ps
