#include "argosy/inspect/word_vectors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace argosy::inspect {
namespace {

using testing::HasSubstr;

class WordVectorsTest : public testing::Test {
 protected:
  WordVectorsTest() : folder_(std::filesystem::temp_directory_path() / fmt::format("argosy-vectors-{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~WordVectorsTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::filesystem::path folder_;
};

// Words on a grid: what leads from one row to the next leads so in each column.
const char* kGrid = "6 4\nking 3 0 1 0\nqueen 3 0 0 1\nman 0 2 1 0\nwoman 0 2 0 1\nbread 0 0 0 -1\nwater 0 0 -1 0\n";

TEST_F(WordVectorsTest, AnalogiesAreAnsweredBySection) {
  const auto vectors = WordVectors::read_text(write("v", kGrid));
  ASSERT_TRUE(vectors.ok()) << vectors.status().message();
  const auto scores = vectors->analogies(
      write("q", ": right\nman woman king queen\nking queen man woman\n: wrong\nman woman king bread\nman woman king nobody\n"));
  ASSERT_TRUE(scores.ok()) << scores.status().message();
  ASSERT_EQ(scores->size(), 3u);
  EXPECT_EQ((*scores)[0].section, "right");
  EXPECT_EQ((*scores)[0].right, 2);
  EXPECT_EQ((*scores)[1].right, 0);
  EXPECT_EQ((*scores)[1].unknown, 1);
  EXPECT_EQ((*scores)[2].asked, 3);
  EXPECT_NEAR((*scores)[2].percent(), 66.67, 0.01);
}

TEST_F(WordVectorsTest, SimilarityIsTheCorrelationOfRanks) {
  const auto vectors = WordVectors::read_text(write("v", kGrid));
  EXPECT_NEAR(
      vectors->similarity(write("s", "# a b\nking queen 9\nking man 5\nking bread 1\nking water -7\nking no 1\n"))->spearman, 1.0,
      1e-9);
  EXPECT_NEAR(vectors->similarity(folder_ / "s")->unknown, 1, 0);
  EXPECT_NEAR(vectors->similarity(write("s", "king queen 1\nking man 2\nking bread 3\nking water 4\n"))->spearman, -1.0, 1e-9);
}

TEST_F(WordVectorsTest, BadFilesAreNamed) {
  const auto error = [](const auto& result) { return result.status().message(); };
  EXPECT_THAT(error(WordVectors::read_text(folder_ / "none")), HasSubstr("none"));
  EXPECT_THAT(error(WordVectors::read_text(write("v", "words\n"))), HasSubstr("v:1"));
  EXPECT_THAT(error(WordVectors::read_text(write("v", "2 2\na 1 2\nb 1\n"))),
              HasSubstr("v:3: the vector of 'b' has 1 numbers, expected 2"));
  EXPECT_THAT(error(WordVectors::read_text(write("v", "2 2\na 1 2\n"))), HasSubstr("after 1 of 2 words"));
  EXPECT_THAT(error(WordVectors::read_text(write("v", "1 1\na nan\n"))),
              testing::AnyOf(HasSubstr("not finite"), HasSubstr("has 0 numbers")));
  const auto vectors = WordVectors::read_text(write("v", kGrid));
  EXPECT_THAT(error(vectors->analogies(write("q", "man woman king\n"))), HasSubstr("q:1: a question has 4 words, found 3"));
  EXPECT_THAT(error(vectors->analogies(write("q", "x y z w\n"))), HasSubstr("none of 1 questions"));
  EXPECT_THAT(error(vectors->similarity(write("s", "king queen much\n"))), HasSubstr("s:1"));
}

}  // namespace
}  // namespace argosy::inspect
