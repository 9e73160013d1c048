#include "argosy/data/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "argosy/base/file.h"
#include "argosy/base/random.h"
#include "argosy/data/queue_dataset.h"
#include "argosy/data/scratch_files_test.h"
#include "argosy/data/vocabulary.h"

namespace argosy::data {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const SlotSpec kCenter{.name = "center", .dense = true}, kAround{.name = "around", .dense = false},
    kOther{.name = "around", .dense = true};

SlotSpec negatives(int64_t width) { return {.name = "negatives", .dense = true, .width = width}; }

class CorpusTest : public testing::Test {
 protected:
  std::shared_ptr<const Vocabulary> counted(const std::vector<std::string>& paths, int64_t min_count = 1) {
    auto vocabulary = Vocabulary::count({.files = paths, .min_count = min_count});
    EXPECT_TRUE(vocabulary.ok()) << vocabulary.status().message();
    return std::make_shared<const Vocabulary>(std::move(*vocabulary));
  }

  // A text of so many lines of words that follow Zipf's law.
  std::string zipf_text(int lines, uint64_t seed) {
    Random random(seed);
    std::string text;
    for (int i = 0; i < lines; ++i) {
      for (uint64_t k = 0, words = 5 + random.below(20); k < words; ++k)
        text += fmt::format("w{} ", static_cast<int>(std::exp(random.uniform() * 7)));
      text += "\n";
    }
    return text;
  }

  DatasetOptions options(std::vector<SlotSpec> slots, std::vector<std::string> paths, CorpusOptions corpus, int batch = 7) {
    return {.slots = std::move(slots), .batch_size = batch, .files = std::move(paths), .corpus = std::move(corpus)};
  }

  struct Pass {
    std::map<uint64_t, std::vector<std::vector<int64_t>>> batches;  // by number: all columns, and the offsets of ragged ones
    Status status;
  };
  static Pass read(QueueDataset& dataset, int threads = 1) {
    Pass pass;
    pass.status = dataset.start(threads);
    Batch batch;
    for (int thread = 0; thread < threads && pass.status.ok();) {
      const auto more = dataset.next(thread, batch);
      if (!more.ok()) pass.status = more.status();
      if (!more.ok() || !*more) {
        ++thread;
        continue;
      }
      auto& columns = pass.batches[batch.number];
      for (const Column& column : batch.columns) {
        columns.push_back(ints_of(column));
        if (!column.dense()) columns.push_back(offsets_of(column));
      }
    }
    return pass;
  }
  std::string error_of(const DatasetOptions& options) {
    QueueDataset dataset(options);
    return read(dataset).status.message();
  }

  ScratchFiles files_;
};

TEST_F(CorpusTest, AVocabularyIsInTheOrderOfFrequencyThenOfBytes) {
  const auto vocabulary = counted({files_.write("a", "b a c a\nd  b\t\xc3\xa4 a\r\n"), files_.write("b", "c c")}, 1);
  std::vector<std::string> words;
  for (int64_t id = 0; id < vocabulary->size(); ++id)
    words.push_back(fmt::format("{} {}", vocabulary->word(id), vocabulary->count(id)));
  EXPECT_THAT(words, ElementsAre("a 3", "c 3", "b 2", "d 1", "\xc3\xa4 1"));
  EXPECT_EQ(vocabulary->find("c"), 1);
  EXPECT_EQ(vocabulary->find("x"), -1);
  EXPECT_EQ(vocabulary->total(), 10);
  EXPECT_EQ(counted({files_.path("a"), files_.path("b")}, 2)->size(), 3);
}

TEST_F(CorpusTest, AVocabularyIsReadAsItWasWritten) {
  const auto vocabulary = counted({files_.write("a", zipf_text(200, fresh_seed()))});
  ASSERT_TRUE(vocabulary->write(files_.path("words")).ok());
  const auto again = Vocabulary::read(files_.path("words"));
  ASSERT_TRUE(again.ok()) << again.status().message();
  ASSERT_EQ(again->size(), vocabulary->size());
  for (int64_t id = 0; id < again->size(); ++id) {
    EXPECT_EQ(again->word(id), vocabulary->word(id));
    EXPECT_EQ(again->count(id), vocabulary->count(id));
    EXPECT_EQ(again->find(vocabulary->word(id)), id);
  }
}

// Each window is a part of the sentence around its word, of 1 to `window` words on either side, each size as often as any other.
TEST_F(CorpusTest, WindowsAreWhatStandsAroundAWord) {
  std::string line;
  for (int i = 0; i < 4000; ++i) line += fmt::format("w{} ", i);
  const auto vocabulary = counted({files_.write("a", line + "\n")});
  QueueDataset dataset(options({kCenter, kAround}, {files_.path("a")}, {.vocabulary = vocabulary, .window = 4, .sample = 0}));
  const Pass pass = read(dataset);
  ASSERT_TRUE(pass.status.ok()) << pass.status.message();
  const auto& columns = pass.batches.at(0);
  ASSERT_EQ(columns[0].size(), 4000u);
  std::vector<int> sizes(5);
  for (int64_t i = 0; i < 4000; ++i) {
    const auto place = [&](int64_t id) { return std::stoll(std::string(vocabulary->word(id).substr(1))); };
    ASSERT_EQ(place(columns[0][static_cast<size_t>(i)]), i);
    const int64_t begin = columns[2][static_cast<size_t>(i)], end = columns[2][static_cast<size_t>(i) + 1];
    std::vector<int64_t> found, expected;
    for (int64_t k = begin; k < end; ++k) found.push_back(place(columns[1][static_cast<size_t>(k)]));
    const int64_t window = std::max(found.back() - i, i - found.front());
    for (int64_t k = std::max<int64_t>(0, i - window); k < std::min<int64_t>(4000, i + window + 1); ++k)
      if (k != i) expected.push_back(k);
    ASSERT_EQ(found, expected) << "around word " << i;
    if (i >= 4 && i < 3996) ++sizes.at(static_cast<size_t>(window));
  }
  for (size_t size = 1; size <= 4; ++size) EXPECT_NEAR(sizes[size], 998, 6 * std::sqrt(998.0)) << size;
}

TEST_F(CorpusTest, PairsAreThoseOfTheWindows) {
  const std::string file = files_.write("a", zipf_text(50, fresh_seed()));
  const CorpusOptions corpus{.vocabulary = counted({file}), .sample = 1e-2};
  QueueDataset windows(options({kCenter, kAround}, {file}, corpus)), pairs(options({kCenter, kOther}, {file}, corpus));
  const Pass by_window = read(windows), by_pair = read(pairs);
  ASSERT_EQ(by_window.batches.size(), by_pair.batches.size());
  for (const auto& [number, columns] : by_window.batches) {
    std::vector<int64_t> centers;
    for (size_t i = 0; i + 1 < columns[2].size(); ++i)
      centers.insert(centers.end(), static_cast<size_t>(columns[2][i + 1] - columns[2][i]), columns[0][i]);
    EXPECT_EQ(by_pair.batches.at(number)[0], centers);
    EXPECT_EQ(by_pair.batches.at(number)[1], columns[1]);
  }
}

// What is drawn follows count^0.75 and sqrt(t / f) + t / f.
TEST_F(CorpusTest, NegativesAndKeptWordsComeAsOftenAsTheyShould) {
  const std::string file = files_.write("a", zipf_text(8000, 17));
  const auto vocabulary = counted({file});
  QueueDataset dataset(options({kCenter, kAround, negatives(3)}, {file}, {.vocabulary = vocabulary, .sample = 1e-2}));
  const Pass pass = read(dataset);
  std::vector<double> drawn(static_cast<size_t>(vocabulary->size())), kept(drawn.size());
  double draws = 0, mass = 0, centers = 0;
  for (const auto& [number, columns] : pass.batches) {
    for (const int64_t id : columns[0]) ++kept[static_cast<size_t>(id)], ++centers;
    for (const int64_t id : columns[3]) ++drawn[static_cast<size_t>(id)], ++draws;
  }
  for (int64_t id = 0; id < vocabulary->size(); ++id) mass += std::pow(static_cast<double>(vocabulary->count(id)), 0.75);
  for (int64_t id = 0; id < vocabulary->size(); ++id) {
    const auto count = static_cast<double>(vocabulary->count(id));
    const double expected = draws * std::pow(count, 0.75) / mass;
    EXPECT_NEAR(drawn[static_cast<size_t>(id)], expected, 6 * std::sqrt(expected) + 1) << id;
    const double share = count / static_cast<double>(vocabulary->total());
    const double p = std::min(1.0, std::sqrt(1e-2 / share) + 1e-2 / share);
    EXPECT_NEAR(kept[static_cast<size_t>(id)], count * p, 6 * std::sqrt(count * p * (1 - p)) + 0.001 * count + 1) << id;
  }
  EXPECT_NEAR(centers, vocabulary->expected_words(1e-2), 0.01 * centers);
}

// A batch is a function of seed, pass and lines: whatever the threads, and whether it is read again.
TEST_F(CorpusTest, BatchesAreTheSameWhoeverReadsThem) {
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE(seed);
  const std::string file = files_.write("a", zipf_text(300, seed));
  const CorpusOptions corpus{.vocabulary = counted({file}), .sample = 1e-2, .seed = seed};
  const DatasetOptions all = options({kCenter, kAround, negatives(2)}, {file}, corpus);
  QueueDataset one(all), two(all);
  const Pass first = read(one);
  ASSERT_TRUE(first.status.ok());
  EXPECT_EQ(read(two, 2).batches, first.batches);
  const Pass second = read(one);
  EXPECT_NE(second.batches, first.batches);  // another pass draws anew
  two.repeat();
  EXPECT_EQ(read(two).batches, first.batches);
  EXPECT_EQ(read(two).batches, second.batches);
  QueueDataset restarted(all);  // a worker that had finished the first pass
  restarted.skip();
  EXPECT_EQ(read(restarted).batches, second.batches);
  CorpusOptions other = corpus;
  other.seed += 1;
  QueueDataset different(options({kCenter, kAround, negatives(2)}, {file}, other));
  EXPECT_NE(read(different).batches, first.batches);
}

TEST_F(CorpusTest, BadInputIsNamed) {
  const std::string good = files_.write("good", "a b a b a b\n"), empty = files_.write("empty", ""),
                    latin = files_.write("latin", "fine words\nna\xefve words\n");
  const auto vocabulary = counted({good});
  const auto count_error = [](VocabularyOptions o) { return Vocabulary::count(o).status().message(); };
  EXPECT_THAT(count_error({.files = {good, empty}, .min_count = 1}), AllOf(HasSubstr(empty), HasSubstr("the file has no words")));
  EXPECT_THAT(count_error({.files = {good}, .min_count = 9}),
              AllOf(HasSubstr(good), HasSubstr("min_count=9"), HasSubstr("has 3")));
  EXPECT_THAT(count_error({.files = {latin}, .min_count = 1}),
              AllOf(HasSubstr(latin + ":2:3"), HasSubstr("0xef"), HasSubstr("UTF-8")));
  EXPECT_THAT(count_error({.files = {files_.path("absent")}}), HasSubstr(files_.path("absent")));
  EXPECT_THAT(count_error({.files = {good}, .min_count = 0}), HasSubstr("min_count is 0"));

  EXPECT_THAT(error_of(options({kCenter, kAround}, {latin}, {.vocabulary = vocabulary})), HasSubstr(latin + ":2:3"));
  EXPECT_THAT(error_of(options({kCenter, kAround}, {good}, {})), HasSubstr("no vocabulary"));
  EXPECT_THAT(error_of(options({kCenter, kAround}, {good}, {.vocabulary = vocabulary, .window = 0})), HasSubstr("window is 0"));
  EXPECT_THAT(error_of(options({kCenter, kAround}, {good}, {.vocabulary = vocabulary, .sample = 2})), HasSubstr("sample is 2"));
  EXPECT_THAT(error_of(options({kAround, kCenter}, {good}, {.vocabulary = vocabulary})), HasSubstr("'around' has lod_level 1"));
  EXPECT_THAT(error_of(options({kCenter}, {good}, {.vocabulary = vocabulary})), HasSubstr("the dataset has 1"));
  std::string endless;
  for (int i = 0; i < 10'001; ++i) endless += "a ";
  EXPECT_THAT(error_of(options({kCenter, kAround}, {files_.write("long", endless)}, {.vocabulary = vocabulary})),
              AllOf(HasSubstr(files_.path("long") + ":1"), HasSubstr("10001 words"), HasSubstr("fold -s")));

  EXPECT_THAT(Vocabulary::read(files_.path("absent")).status().message(), HasSubstr("absent"));
  EXPECT_THAT(Vocabulary::read(files_.write("words", "a 3\nb\n")).status().message(), HasSubstr(files_.path("words") + ":2"));
  EXPECT_THAT(Vocabulary::read(files_.write("twice", "a 3\na 2\n")).status().message(), HasSubstr("'a' is there twice"));
  EXPECT_THAT(Vocabulary::read(empty).status().message(), HasSubstr("no words"));
}

// Forms that Unicode's table of well-formed sequences leaves out, and some that it has.
TEST_F(CorpusTest, OnlyWellFormedUtf8IsRead) {
  for (const char* bad :
       {"\x80", "\xc0\xaf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80", "\xe2\x82", "\xc3"}) {
    const std::string path = files_.write("bad", std::string("ok ") + bad + "\n");
    EXPECT_THAT(Vocabulary::count({.files = {path}, .min_count = 1}).status().message(), HasSubstr(path + ":1:4")) << bad;
  }
  for (const char* good : {"\xc2\xa0", "\xe2\x82\xac", "\xed\x9f\xbf", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(Vocabulary::count({.files = {files_.write("good", std::string(good) + "\n")}, .min_count = 1}).ok()) << good;
  }
}

}  // namespace
}  // namespace argosy::data
