#include "argosy/ps/spec/file_lines.h"

#include <algorithm>
#include <limits>

namespace argosy::ps {
namespace {

uint64_t end_of(LineRange lines) {
  return lines.first + std::min(lines.count, std::numeric_limits<uint64_t>::max() - lines.first);
}

}  // namespace

void FileLines::add(uint64_t file, LineRange lines) {
  uint64_t first = lines.first, end = end_of(lines);
  if (first == end) return;
  Ranges& ranges = files_[file];
  auto next = ranges.upper_bound(first);
  if (next != ranges.begin() && std::prev(next)->second >= first) --next;
  while (next != ranges.end() && next->first <= end) {
    first = std::min(first, next->first);
    end = std::max(end, next->second);
    next = ranges.erase(next);
  }
  ranges.emplace(first, end);
}

void FileLines::remove(uint64_t file, LineRange lines) {
  const auto known = files_.find(file);
  const uint64_t first = lines.first, end = end_of(lines);
  if (known == files_.end() || first == end) return;
  Ranges& ranges = known->second;
  auto next = ranges.upper_bound(first);
  if (next != ranges.begin() && std::prev(next)->second > first) --next;
  while (next != ranges.end() && next->first < end) {
    const auto [from, to] = *next;
    next = ranges.erase(next);
    if (from < first) ranges.emplace(from, first);
    if (to > end) ranges.emplace(end, to);
  }
  if (ranges.empty()) files_.erase(known);
}

void FileLines::add(const FileLines& other) {
  for (const auto& [file, ranges] : other.files_) {
    for (const auto& [first, end] : ranges) add(file, {first, end - first});
  }
}

void FileLines::remove(const FileLines& other) {
  for (const auto& [file, ranges] : other.files_) {
    for (const auto& [first, end] : ranges) remove(file, {first, end - first});
  }
}

std::vector<LineRange> FileLines::of(uint64_t file) const {
  std::vector<LineRange> result;
  const auto known = files_.find(file);
  if (known == files_.end()) return result;
  for (const auto& [first, end] : known->second) result.push_back({first, end - first});
  return result;
}

uint64_t FileLines::count(uint64_t file) const {
  uint64_t sum = 0;
  for (const LineRange& range : of(file)) sum += range.count;
  return sum;
}

bool FileLines::covers(uint64_t file, LineRange lines) const {
  if (lines.count == 0) return true;
  const auto known = files_.find(file);
  if (known == files_.end()) return false;
  const auto next = known->second.upper_bound(lines.first);
  return next != known->second.begin() && std::prev(next)->second >= end_of(lines);
}

FileLines FileLines::only(uint64_t file) const {
  FileLines one;
  if (const auto known = files_.find(file); known != files_.end()) one.files_.insert(*known);
  return one;
}

void FileLines::write(google::protobuf::RepeatedPtrField<wire::LineRange>* ranges) const {
  for (const auto& [file, of_file] : files_) {
    for (const auto& [first, end] : of_file) {
      wire::LineRange* range = ranges->Add();
      range->set_file(file);
      range->set_first(first);
      range->set_count(end - first);
    }
  }
}

}  // namespace argosy::ps
