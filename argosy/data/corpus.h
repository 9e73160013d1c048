#pragma once

#include <memory>
#include <span>
#include <vector>

#include "argosy/data/corpus_options.h"
#include "argosy/data/line_parser.h"
#include "argosy/data/word_sampler.h"

namespace argosy::data {

// Sentences, one a line, as samples of word2vec. The slots, in the order in which the dataset has them, are
//   1. the word in the middle: dense, one id;
//   2. the words around it: ragged, all of them, so that a sample is a window; or dense, one id, so that a sample is a pair;
//   3. words drawn at random: dense, as many as its width. It may be left out.
//
// What is drawn is a function of the seed, the pass, the file's name without its folder, the line's number and the word's place
// in it: not of threads, of the order of lines, or of what was read before. So a batch that is read again is the same.
class CorpusParser : public LineParser {
 public:
  static constexpr int64_t kLongestSentence = 10'000;  // words

  // Refuses slots that do not fit, a missing vocabulary, and settings out of their range.
  static Result<std::unique_ptr<CorpusParser>> make(std::span<const SlotSpec> slots, const CorpusOptions& options, uint64_t pass);

  const char* parse_line(const char* line, Batch& batch, LineError& error) const override {
    return parse_line_at(line, {}, batch, error);
  }
  const char* parse_line_at(const char* line, const LinePlace& place, Batch& batch, LineError& error) const override;
  std::span<const SlotSpec> slots() const override { return slots_; }

 private:
  CorpusParser(std::span<const SlotSpec> slots, const CorpusOptions& options, uint64_t pass);

  // Words of a line that are kept, and the window of each.
  struct Sentence {
    std::vector<int64_t> ids;
    std::vector<int32_t> windows;
    int64_t words = 0;  // in the text
  };
  const char* keep_words(const char* line, uint64_t stream, Sentence& sentence) const;
  void add_windows(const Sentence& sentence, uint64_t stream, Batch& batch) const;
  void add_pairs(const Sentence& sentence, uint64_t stream, Batch& batch) const;
  void add_negatives(uint64_t stream, uint64_t sample, Batch& batch) const;

  const std::vector<SlotSpec> slots_;
  const std::shared_ptr<const Vocabulary> vocabulary_;
  const int window_;
  const uint64_t seed_;  // of the pass
  std::vector<uint64_t> keep_;  // by id: it is kept where 32 random bits are less
  const WordSampler sampler_;
};

Status check_corpus(const CorpusOptions& options);

}  // namespace argosy::data
