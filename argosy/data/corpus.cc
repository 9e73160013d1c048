#include "argosy/data/corpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "argosy/base/random.h"
#include "argosy/data/vocabulary.h"
#include "argosy/data/words.h"

namespace argosy::data {
namespace {

// The n-th number of a stream (Random's, by its place).
uint64_t draw(uint64_t stream, uint64_t place) { return mix64(stream + (place + 1) * 0x9e3779b97f4a7c15ULL); }

// Of `bound` numbers the one that 32 random bits stand for.
uint64_t scaled(uint64_t bits, uint64_t bound) { return (bits & 0xffffffffULL) * bound >> 32; }

Status check_corpus_slots(std::span<const SlotSpec> slots) {
  if (slots.size() < 2 || slots.size() > 3) {
    return Status::invalid_argument(
        "a corpus feeds 2 or 3 variables, the word, the words around it and the negatives, but the dataset has {}", slots.size());
  }
  for (const SlotSpec& slot : slots) {
    if (slot.type != SlotType::int64)
      return Status::invalid_argument("variable '{}' is float32, but a corpus gives ids: declare it as int64", slot.name);
  }
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (slots[i].dense && slots[i].width != 1)
      return Status::invalid_argument("variable '{}' has width {}, but a corpus gives one id for it", slots[i].name,
                                      slots[i].width);
  }
  for (const size_t i : {size_t{0}, slots.size() == 3 ? size_t{2} : size_t{0}}) {
    if (!slots[i].dense)
      return Status::invalid_argument(
          "variable '{}' has lod_level 1; of a corpus only the second variable, the words around, may", slots[i].name);
  }
  return {};
}

}  // namespace

Status check_corpus(const CorpusOptions& options) {
  if (options.vocabulary == nullptr)
    return Status::invalid_argument(
        "the corpus has no vocabulary: count one (Vocabulary::count) or read it from a file (Vocabulary::read)");
  if (options.window < 1 || options.window > 1000)
    return Status::invalid_argument("window is {}, expected 1 to 1,000", options.window);
  if (!(options.sample >= 0 && options.sample <= 1))
    return Status::invalid_argument("sample is {}, expected 0 to 1", options.sample);
  if (!(options.power >= -4 && options.power <= 4))
    return Status::invalid_argument("power is {}, expected -4 to 4 (0.75)", options.power);
  return {};
}

CorpusParser::CorpusParser(std::span<const SlotSpec> slots, const CorpusOptions& options, uint64_t pass)
    : slots_(slots.begin(), slots.end()),
      vocabulary_(options.vocabulary),
      window_(options.window),
      seed_(mix64(mix64(options.seed) ^ pass)),
      sampler_(*options.vocabulary, options.power) {
  for (int64_t id = 0; id < vocabulary_->size(); ++id)
    keep_.push_back(static_cast<uint64_t>(vocabulary_->keep_probability(id, options.sample) * 4294967296.0));
}

Result<std::unique_ptr<CorpusParser>> CorpusParser::make(std::span<const SlotSpec> slots, const CorpusOptions& options,
                                                         uint64_t pass) {
  RETURN_IF_ERROR(check_slots(slots));
  RETURN_IF_ERROR(check_corpus(options));
  RETURN_IF_ERROR(check_corpus_slots(slots));
  return std::unique_ptr<CorpusParser>(new CorpusParser(slots, options, pass));
}

// One number a word says whether it is kept (the upper half) and how far it sees (the lower).
const char* CorpusParser::keep_words(const char* line, uint64_t stream, Sentence& sentence) const {
  sentence.ids.clear();
  sentence.windows.clear();
  sentence.words = 0;
  return for_each_word(line, [&](std::string_view word) {
    const auto place = static_cast<uint64_t>(sentence.words++);
    const int64_t id = vocabulary_->find(word);
    if (id < 0) return;
    const uint64_t bits = draw(stream, place);
    if ((bits >> 32) >= keep_[static_cast<size_t>(id)]) return;
    sentence.ids.push_back(id);
    sentence.windows.push_back(window_ - static_cast<int32_t>(scaled(bits, static_cast<uint64_t>(window_))));
  });
}

void CorpusParser::add_negatives(uint64_t stream, uint64_t sample, Batch& batch) const {
  if (slots_.size() < 3) return;
  const auto width = static_cast<uint64_t>(slots_[2].width);
  int64_t* out = batch.columns[2].room<int64_t>(slots_[2].width);
  for (uint64_t k = 0; k < width; ++k) out[k] = sampler_.word(draw(stream, sample * width + k));
  batch.columns[2].add_sample(slots_[2].width);
}

void CorpusParser::add_windows(const Sentence& sentence, uint64_t stream, Batch& batch) const {
  const auto count = static_cast<int64_t>(sentence.ids.size());
  const int64_t* ids = sentence.ids.data();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t window = sentence.windows[static_cast<size_t>(i)];
    const int64_t begin = std::max<int64_t>(0, i - window), end = std::min(count, i + window + 1);
    *batch.columns[0].room<int64_t>(1) = ids[i];
    batch.columns[0].add_sample(1);
    int64_t* around = batch.columns[1].room<int64_t>(end - begin - 1);
    std::copy(ids + i + 1, ids + end, std::copy(ids + begin, ids + i, around));
    batch.columns[1].add_sample(end - begin - 1);
    add_negatives(stream, static_cast<uint64_t>(i), batch);
    ++batch.size;
  }
}

void CorpusParser::add_pairs(const Sentence& sentence, uint64_t stream, Batch& batch) const {
  const auto count = static_cast<int64_t>(sentence.ids.size());
  uint64_t sample = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t window = sentence.windows[static_cast<size_t>(i)];
    for (int64_t k = std::max<int64_t>(0, i - window); k < std::min(count, i + window + 1); ++k) {
      if (k == i) continue;
      for (const auto& [column, place] : {std::pair(0, i), std::pair(1, k)}) {
        *batch.columns[static_cast<size_t>(column)].room<int64_t>(1) = sentence.ids[static_cast<size_t>(place)];
        batch.columns[static_cast<size_t>(column)].add_sample(1);
      }
      add_negatives(stream, sample++, batch);
      ++batch.size;
    }
  }
}

const char* CorpusParser::parse_line_at(const char* line, const LinePlace& place, Batch& batch, LineError& error) const {
  thread_local Sentence sentence;
  if (check_utf8(line, error) == nullptr) return nullptr;
  const uint64_t stream = mix64(seed_ ^ mix64(place.file_key ^ mix64(static_cast<uint64_t>(place.line))));
  const char* end = keep_words(line, stream, sentence);
  if (sentence.words > kLongestSentence) {
    error.at = line;
    error.what = fmt::format(
        "a line of {} words is a sentence of more than {}; cut it, for example with the pipe command 'fold -s -w 2000'",
        sentence.words, kLongestSentence);
    return nullptr;
  }
  if (sentence.ids.size() < 2) return end + 1;  // nothing is around the word
  slots_[1].dense ? add_pairs(sentence, mix64(stream), batch) : add_windows(sentence, mix64(stream), batch);
  return end + 1;
}

}  // namespace argosy::data
