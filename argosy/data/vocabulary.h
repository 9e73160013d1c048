#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/data/remote_store.h"
#include "argosy/data/word_index.h"

namespace argosy::data {

// What words are counted, and which of them become part of a vocabulary.
struct VocabularyOptions {
  std::vector<std::string> files;
  int64_t min_count = 5;  // rarer words are left out
  int64_t max_words = 0;  // so many of the most frequent are kept; 0: all
  std::string pipe_command = "cat";
  RemoteStore store = {};
};

// The words of a corpus and how often each occurs, the most frequent first, equally frequent ones by their bytes: so a word's id
// is a function of the text alone. Immutable, and so thread-safe.
class Vocabulary {
 public:
  // Reads the files once. Errors name the file and line, or the setting that leaves no word.
  static Result<Vocabulary> count(const VocabularyOptions& options);
  // A file of write(), or one by hand: a word and its count a line, in the order of the ids.
  static Result<Vocabulary> read(const std::string& path);
  Status write(const std::string& path) const;

  int64_t size() const { return words_.size(); }
  std::string_view word(int64_t id) const { return words_.word(static_cast<uint32_t>(id)); }
  int64_t count(int64_t id) const { return counts_[static_cast<size_t>(id)]; }
  int64_t total() const { return total_; }  // of all counts
  int64_t lines() const { return lines_; }  // that were counted, empty ones included; 0 where it was read from a file
  // -1: not in it.
  int64_t find(std::string_view word) const {
    const uint32_t number = words_.find(word);
    return number == WordIndex::kNone ? -1 : int64_t{number};
  }

  // How likely subsampling keeps a word: sqrt(sample / f) + sample / f where f is its share of all words, at most 1. sample 0: 1.
  double keep_probability(int64_t id, double sample) const;
  // How many words of one pass over the counted text it keeps, on average.
  double expected_words(double sample) const;

 private:
  void add(std::string_view word, int64_t count);

  WordIndex words_;
  std::vector<int64_t> counts_;  // by id
  int64_t total_ = 0, lines_ = 0;
};

}  // namespace argosy::data
