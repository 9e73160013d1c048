#include "argosy/inspect/word_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>

#include "argosy/base/file.h"
#include "argosy/graph/program.h"
#include "argosy/graph/tensor_file.h"

namespace argosy::inspect {
namespace {

float dot(const float* a, const float* b, size_t width) {
  float sums[8] = {};
  size_t k = 0;
  for (; k + 8 <= width; k += 8)
    for (size_t i = 0; i < 8; ++i) sums[i] += a[k + i] * b[k + i];
  for (; k < width; ++k) sums[0] += a[k] * b[k];
  return std::accumulate(sums, sums + 8, 0.0f);
}

std::vector<std::string> words_of_line(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

// The places of the numbers in their order, equal ones all with their mean.
std::vector<double> ranks_of(const std::vector<double>& numbers) {
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return numbers[i]; });
  std::vector<double> ranks(numbers.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && numbers[order[end]] == numbers[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
  }
  return ranks;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto count = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / count,
               mean_b = std::accumulate(b.begin(), b.end(), 0.0) / count;
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

}  // namespace

Status WordVectors::finish(const std::filesystem::path& path) {
  for (size_t i = 0; i < words_.size(); ++i) {
    if (!places_.emplace(words_[i], static_cast<int64_t>(i)).second)
      return Status::invalid_argument("{}: the word '{}' is there twice", path.string(), words_[i]);
    float* values = &values_[i * width_];
    const float length = std::sqrt(dot(values, values, width_));
    if (!std::isfinite(length))
      return Status::invalid_argument("{}: the vector of '{}' is not finite; was the learning rate too high?", path.string(),
                                      words_[i]);
    if (length > 0) std::for_each(values, values + width_, [&](float& value) { value /= length; });
  }
  return {};
}

Result<WordVectors> WordVectors::read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) return Status::not_found("{}: there is no such file of vectors", path.string());
  WordVectors vectors;
  size_t words = 0;
  std::string line;
  if (!std::getline(file, line) || !(std::istringstream(line) >> words >> vectors.width_) || vectors.width_ == 0)
    return Status::invalid_argument("{}:1: expected the number of words and their width, as word2vec writes it; found '{:.40}'",
                                    path.string(), line);
  for (size_t i = 0; i < words; ++i) {
    if (!std::getline(file, line))
      return Status::invalid_argument("{}:{}: the file ends here, after {} of {} words", path.string(), i + 2, i, words);
    std::istringstream stream(line);
    stream >> vectors.words_.emplace_back();
    for (size_t k = 0; k < vectors.width_; ++k) {
      if (!(stream >> vectors.values_.emplace_back()))
        return Status::invalid_argument("{}:{}: the vector of '{}' has {} numbers, expected {}", path.string(), i + 2,
                                        vectors.words_.back(), k, vectors.width_);
    }
  }
  RETURN_IF_ERROR(vectors.finish(path));
  return vectors;
}

Result<WordVectors> WordVectors::read_tensor(const std::filesystem::path& path, std::vector<std::string> words) {
  ASSIGN_OR_RETURN(const std::string bytes, read_file(path));
  auto decoded = graph::decode_tensor(bytes);
  if (!decoded.ok()) return Status(decoded.status()).with_context("{}", path.string());
  const graph::TensorFile& tensor = *decoded;
  if (tensor.dtype != graph::DType::float32 || tensor.shape.size() != 2)
    return Status::invalid_argument("{}: is a tensor of {} {}, expected a table of float32 [words, width]", path.string(),
                                    graph::dtype_name(tensor.dtype), graph::shape_to_string(tensor.shape));
  if (tensor.shape[0] != static_cast<int64_t>(words.size()))
    return Status::invalid_argument("{}: has {} rows, but the vocabulary has {} words; is it the vocabulary of this training?",
                                    path.string(), tensor.shape[0], words.size());
  WordVectors vectors;
  vectors.words_ = std::move(words);
  vectors.width_ = static_cast<size_t>(tensor.shape[1]);
  vectors.values_.resize(vectors.words_.size() * vectors.width_);
  std::memcpy(vectors.values_.data(), tensor.bytes.data(), vectors.values_.size() * sizeof(float));
  RETURN_IF_ERROR(vectors.finish(path));
  return vectors;
}

int64_t WordVectors::find(const std::string& word) const {
  const auto found = places_.find(word);
  return found == places_.end() ? -1 : found->second;
}

int64_t WordVectors::nearest(const std::vector<float>& to, const std::vector<int64_t>& but) const {
  int64_t best = -1;
  float most = -INFINITY;
  for (int64_t i = 0; i < static_cast<int64_t>(words_.size()); ++i) {
    const float score = dot(row(i), to.data(), width_);
    if (score <= most || std::ranges::find(but, i) != but.end()) continue;
    best = i;
    most = score;
  }
  return best;
}

Result<std::vector<WordVectors::Score>> WordVectors::analogies(const std::filesystem::path& questions) const {
  ASSIGN_OR_RETURN(const std::string text, read_file(questions));
  std::istringstream lines(text);
  std::vector<Score> scores;
  Score all{.section = "all"};
  int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto words = words_of_line(line);
    if (words.empty()) continue;
    if (words[0] == ":") {
      scores.push_back({.section = words.size() > 1 ? words[1] : ""});
      continue;
    }
    if (words.size() != 4)
      return Status::invalid_argument("{}:{}: a question has 4 words, found {}", questions.string(), number, words.size());
    if (scores.empty()) scores.push_back({.section = "questions"});
    const std::vector<int64_t> ids = {find(words[0]), find(words[1]), find(words[2]), find(words[3])};
    Score& score = scores.back();
    if (std::ranges::find(ids, -1) != ids.end()) {
      ++score.unknown;
      continue;
    }
    std::vector<float> target(width_);
    for (size_t k = 0; k < width_; ++k) target[k] = row(ids[1])[k] - row(ids[0])[k] + row(ids[2])[k];
    ++score.asked;
    score.right += nearest(target, {ids[0], ids[1], ids[2]}) == ids[3];
  }
  for (const Score& score : scores) all.right += score.right, all.asked += score.asked, all.unknown += score.unknown;
  if (all.asked == 0)
    return Status::invalid_argument("{}: none of {} questions has words that all have vectors", questions.string(), all.unknown);
  scores.push_back(all);
  return scores;
}

Result<WordVectors::Similarity> WordVectors::similarity(const std::filesystem::path& pairs) const {
  ASSIGN_OR_RETURN(const std::string text, read_file(pairs));
  std::istringstream lines(text);
  std::vector<double> found, expected;
  Similarity result;
  int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto words = words_of_line(line);
    if (words.empty() || words[0].starts_with("#")) continue;
    char* end = nullptr;
    const double score = words.size() == 3 ? std::strtod(words[2].c_str(), &end) : 0;
    if (words.size() != 3 || *end != '\0')
      return Status::invalid_argument("{}:{}: '{}' is not two words and a number", pairs.string(), number, line);
    const int64_t a = find(words[0]), b = find(words[1]);
    if (a < 0 || b < 0) {
      ++result.unknown;
      continue;
    }
    found.push_back(dot(row(a), row(b), width_));
    expected.push_back(score);
  }
  if (found.size() < 3)
    return Status::invalid_argument("{}: only {} of its pairs have vectors, expected at least 3", pairs.string(), found.size());
  result.pairs = static_cast<int64_t>(found.size());
  result.spearman = correlation(ranks_of(found), ranks_of(expected));
  return result;
}

}  // namespace argosy::inspect
