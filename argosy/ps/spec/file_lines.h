#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "argosy/base/line_range.h"
#include "argosy/ps/spec/messages.pb.h"

namespace argosy::ps {

// A set of lines of several files, by the files' places in their list. Costs what it has gaps: lines that lie together are one
// range.
//
// Thread-compatible.
class FileLines {
 public:
  // What lies beyond the largest number is left out. Lines that are there already stay, and those that are not stay away.
  void add(uint64_t file, LineRange lines);
  void remove(uint64_t file, LineRange lines);
  void add(const FileLines& other);
  void remove(const FileLines& other);
  void clear() { files_.clear(); }

  bool empty() const { return files_.empty(); }
  std::vector<LineRange> of(uint64_t file) const;  // ascending, with gaps between them
  uint64_t count(uint64_t file) const;
  bool covers(uint64_t file, LineRange lines) const;
  FileLines only(uint64_t file) const;

  template <typename Ranges>  // repeated wire::LineRange
  void read(const Ranges& ranges) {
    for (const wire::LineRange& range : ranges) add(range.file(), {range.first(), range.count()});
  }
  void write(google::protobuf::RepeatedPtrField<wire::LineRange>* ranges) const;

 private:
  using Ranges = std::map<uint64_t, uint64_t>;  // first line -> behind the last; they neither touch nor overlap

  std::map<uint64_t, Ranges> files_;  // none is empty
};

}  // namespace argosy::ps
