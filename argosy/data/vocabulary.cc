#include "argosy/data/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "argosy/base/file.h"
#include "argosy/base/text.h"
#include "argosy/data/pipe.h"
#include "argosy/data/text_block.h"
#include "argosy/data/words.h"

namespace argosy::data {
namespace {

struct WordCounts {
  WordIndex words;
  std::vector<int64_t> counts;  // by number
  int64_t total = 0, lines = 0;
};

Status count_block(const TextBlock& block, WordCounts& counted) {
  counted.lines += block.lines;
  int64_t line = block.line;
  for (const char *at = block.text.data(), *end = at + block.size; at < end; ++line) {
    LineError error;
    if (check_utf8(at, error) == nullptr)
      return Status::invalid_argument("{}:{}:{}: {}", block.origin->path, line, error.at - at + 1, error.what);
    at = for_each_word(at,
                       [&](std::string_view word) {
                         const uint32_t number = counted.words.add(word);
                         if (number == counted.counts.size()) counted.counts.push_back(0);
                         ++counted.counts[number];
                         ++counted.total;
                       }) +
         1;
  }
  return {};
}

Status count_file(const std::string& path, const VocabularyOptions& options, WordCounts& counted) {
  auto origin = std::make_shared<TextOrigin>();
  origin->path = path;
  const StopSignal never;
  ASSIGN_OR_RETURN(auto stream,
                   open_pipe({.path = path, .command = options.pipe_command, .store = options.store}, origin->errors, never));
  BlockReader blocks(std::move(stream), origin, 1);
  TextBlock block;
  const int64_t before = counted.total;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, blocks.next(block));
    if (!more) break;
    RETURN_IF_ERROR(count_block(block, counted));
  }
  if (counted.total == before) return Status::invalid_argument("{}: the file has no words; leave it out of the corpus", path);
  return {};
}

std::vector<uint32_t> by_frequency(const WordCounts& counted, int64_t min_count) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < counted.words.size(); ++i) {
    if (counted.counts[i] >= min_count) order.push_back(i);
  }
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    return counted.counts[a] != counted.counts[b] ? counted.counts[a] > counted.counts[b]
                                                  : counted.words.word(a) < counted.words.word(b);
  });
  return order;
}

}  // namespace

Result<Vocabulary> Vocabulary::count(const VocabularyOptions& options) {
  if (options.files.empty()) return Status::invalid_argument("a vocabulary is counted over no files; give the corpus's");
  if (options.min_count < 1) return Status::invalid_argument("min_count is {}, expected at least 1", options.min_count);
  if (options.max_words < 0) return Status::invalid_argument("max_words is {}, expected at least 0 (0: all)", options.max_words);
  WordCounts counted;
  for (const std::string& path : options.files) RETURN_IF_ERROR(count_file(path, options, counted));
  std::vector<uint32_t> order = by_frequency(counted, options.min_count);
  if (order.empty()) {
    return Status::invalid_argument(
        "no word of '{}'{} occurs min_count={} times; the most frequent of {} has {}. Use a smaller min_count",
        options.files.front(), options.files.size() > 1 ? fmt::format(" and {} more files", options.files.size() - 1) : "",
        options.min_count, with_thousands(counted.words.size()), *std::ranges::max_element(counted.counts));
  }
  if (options.max_words > 0) order.resize(std::min(order.size(), static_cast<size_t>(options.max_words)));
  Vocabulary vocabulary;
  vocabulary.lines_ = counted.lines;
  for (const uint32_t number : order) vocabulary.add(counted.words.word(number), counted.counts[number]);
  return vocabulary;
}

void Vocabulary::add(std::string_view word, int64_t count) {
  words_.add(word);
  counts_.push_back(count);
  total_ += count;
}

Result<Vocabulary> Vocabulary::read(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  Vocabulary vocabulary;
  int64_t number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const size_t space = line.find_first_of(" \t");
    const auto count = space == std::string::npos ? std::nullopt : parse_integer(trim(line.substr(space + 1)));
    if (!count || *count < 1 || space == 0)
      return Status::invalid_argument("{}:{}: '{}' is not a word and how often it occurs", path, number, line);
    const std::string_view word(line.data(), space);
    if (vocabulary.find(word) >= 0) return Status::invalid_argument("{}:{}: the word '{}' is there twice", path, number, word);
    vocabulary.add(word, *count);
  }
  if (vocabulary.size() == 0) return Status::invalid_argument("{}: the vocabulary has no words", path);
  return vocabulary;
}

Status Vocabulary::write(const std::string& path) const {
  std::string text;
  for (int64_t id = 0; id < size(); ++id) text += fmt::format("{} {}\n", word(id), count(id));
  return write_file_atomically(path, text);
}

double Vocabulary::keep_probability(int64_t id, double sample) const {
  if (sample <= 0) return 1.0;
  const double share = static_cast<double>(count(id)) / static_cast<double>(total_);
  return std::min(1.0, std::sqrt(sample / share) + sample / share);
}

double Vocabulary::expected_words(double sample) const {
  double sum = 0;
  for (int64_t id = 0; id < size(); ++id) sum += static_cast<double>(count(id)) * keep_probability(id, sample);
  return sum;
}

}  // namespace argosy::data
