#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "argosy/base/status.h"

namespace argosy::inspect {

// Vectors of words, each of length 1, and how well they answer questions about the words. Thread-compatible.
class WordVectors {
 public:
  // word2vec's text format, which gensim writes as well: "words width", then a word and its numbers a line.
  static Result<WordVectors> read_text(const std::filesystem::path& path);
  // A saved table: row i is the vector of words[i].
  static Result<WordVectors> read_tensor(const std::filesystem::path& path, std::vector<std::string> words);

  size_t size() const { return words_.size(); }
  size_t width() const { return width_; }

  struct Score {
    std::string section;
    int64_t right = 0, asked = 0;
    int64_t unknown = 0;  // questions with a word that has no vector: not asked
    double percent() const { return asked > 0 ? 100.0 * static_cast<double>(right) / static_cast<double>(asked) : 0; }
  };
  // A file of word2vec's questions: lines ": section" and "a b c d"; d is right where of all words but a, b and c it is nearest
  // to b - a + c. The last score is that over all sections. A file without a question that can be asked is an error.
  Result<std::vector<Score>> analogies(const std::filesystem::path& questions) const;

  struct Similarity {
    double spearman = 0;  // of the cosines' order and that of the file's numbers, from -1 to 1
    int64_t pairs = 0, unknown = 0;
  };
  // A file of lines "a b number"; lines that begin with # are passed over. Fewer than 3 known pairs are an error.
  Result<Similarity> similarity(const std::filesystem::path& pairs) const;

 private:
  Status finish(const std::filesystem::path& path);
  int64_t find(const std::string& word) const;
  int64_t nearest(const std::vector<float>& to, const std::vector<int64_t>& but) const;
  const float* row(int64_t i) const { return &values_[static_cast<size_t>(i) * width_]; }

  size_t width_ = 0;
  std::vector<std::string> words_;
  std::unordered_map<std::string, int64_t> places_;
  std::vector<float> values_;
};

}  // namespace argosy::inspect
