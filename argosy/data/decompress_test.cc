#include "argosy/data/decompress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "argosy/base/random.h"
#include "argosy/data/scratch_files_test.h"

namespace argosy::data {
namespace {

using testing::HasSubstr;

// Bytes in pieces of any size, as a pipe or a store hands them over.
class Trickle : public ByteStream {
 public:
  Trickle(std::string bytes, uint64_t seed, size_t most) : bytes_(std::move(bytes)), random_(seed), most_(most) {}

  Result<size_t> read(std::span<char> room) override {
    const size_t size = std::min({bytes_.size() - at_, room.size(), size_t{1} + random_.below(most_)});
    std::memcpy(room.data(), bytes_.data() + at_, size);
    at_ += size;
    return size;
  }

 private:
  const std::string bytes_;
  Random random_;
  const size_t most_;
  size_t at_ = 0;
};

class Failing : public ByteStream {
 public:
  Result<size_t> read(std::span<char>) override { return Status::unavailable("the store went away"); }
};

Result<std::string> unpacked(const std::string& bytes, const std::string& name, uint64_t seed, size_t piece, size_t room_size) {
  const auto stream = decompress_by_name(std::make_unique<Trickle>(bytes, seed, piece), name);
  std::string text;
  std::vector<char> room(room_size);
  for (;;) {
    ASSIGN_OR_RETURN(const size_t got, stream->read(room));
    EXPECT_LE(got, room.size());
    if (got == 0) return text;
    text.append(room.data(), got);
  }
}

// Text that packs well here and badly there.
std::string random_text(Random& random) {
  std::string text;
  for (uint64_t parts = random.below(6); parts > 0; --parts) {
    const uint64_t size = random.below(60'000);
    if (random.below(2) == 0) {
      text.append(size, static_cast<char>('a' + random.below(26)));
    } else {
      for (uint64_t i = 0; i < size; ++i) text += static_cast<char>(random.below(256));
    }
  }
  return text;
}

constexpr const char* kNames[] = {"a.gz", "a.zst"};

std::string packed_by(const std::string& name, const std::string& text) { return name == "a.gz" ? gzip(text) : zstd(text); }

// Several members or frames, in pieces of any size, into rooms of any size: the text, byte by byte.
TEST(Decompress, IsTheTextWhateverThePieces) {
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int trial = 0; trial < 60; ++trial) {
    const std::string name = kNames[trial % 2];
    std::string text, bytes;
    for (uint64_t members = 1 + random.below(4); members > 0; --members) {
      const std::string member = random_text(random);
      text += member;
      bytes += packed_by(name, member);
    }
    const size_t piece = random.below(3) == 0 ? 1 + random.below(7) : 1 + random.below(100'000);
    const size_t room = random.below(3) == 0 ? 1 + random.below(50) : 1 + random.below(100'000);
    const auto found = unpacked(bytes, name, random(), piece, room);
    ASSERT_TRUE(found.ok()) << name << " " << piece << " " << room << ": " << found.status().message();
    ASSERT_TRUE(*found == text) << name << " " << piece << " " << room;
  }
}

// Wherever an archive is cut off the end is an error, and never a shorter text; between two members it is a whole archive.
TEST(Decompress, ACutIsFoundWhereverItIs) {
  const std::string text = "some lines\nof text that is\nnot long\n";
  for (const std::string name : kNames) {
    const std::string one = packed_by(name, text), both = one + one;
    for (size_t keep = 0; keep < both.size(); ++keep) {
      const auto found = unpacked(both.substr(0, keep), name, keep, 1 + keep % 5, 1 + keep % 11);
      if (keep == one.size()) {
        EXPECT_EQ(*found, text);
      } else {
        ASSERT_FALSE(found.ok()) << name << " of " << keep << " bytes";
        EXPECT_EQ(found.status().code(), Code::data_loss);
        EXPECT_THAT(found.status().message(), HasSubstr("'" + name + "' is cut off"));
      }
    }
  }
}

// A changed byte is found by the checksum of a gzip archive, or does not matter; it never becomes another text.
TEST(Decompress, AChangedByteOfGzipIsNeverAnotherText) {
  const uint64_t seed = fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const std::string text = random_text(random) + "an end";
  const std::string good = gzip(text);
  for (int trial = 0; trial < 300; ++trial) {
    std::string bad = good;
    bad[random.below(bad.size())] ^= static_cast<char>(1 + random.below(255));
    const auto found = unpacked(bad, "a.gz", random(), 10'000, 10'000);
    if (found.ok()) {
      ASSERT_TRUE(*found == text) << "trial " << trial;
    } else {
      ASSERT_EQ(found.status().code(), Code::data_loss);
      ASSERT_THAT(found.status().message(), HasSubstr("a.gz"));
    }
  }
}

TEST(Decompress, BytesBehindAnArchiveAreDamage) {
  for (const std::string name : kNames) {
    const auto found = unpacked(packed_by(name, "text\n") + "and then something else", name, 1, 100, 100);
    EXPECT_EQ(found.status().code(), Code::data_loss) << name;
    EXPECT_THAT(found.status().message(), HasSubstr("'" + name + "' is ")) << name;
  }
}

TEST(Decompress, GoesByTheNameAlone) {
  const std::string bytes = gzip("text");
  EXPECT_EQ(*unpacked(bytes, "a.txt", 1, 3, 3), bytes);
  EXPECT_EQ(*unpacked(bytes, "gz", 1, 3, 3), bytes);
  for (const char* packed : {"a.gz", "a.zst", "x.tar.gz", ".gz"}) EXPECT_TRUE(is_packed_name(packed)) << packed;
  for (const char* plain : {"a", "gz", "a.GZ", "a.gz.txt", "azst", ""}) EXPECT_FALSE(is_packed_name(plain)) << plain;
}

TEST(Decompress, AFailureBelowIsItsOwn) {
  for (const std::string name : kNames) {
    const auto stream = decompress_by_name(std::make_unique<Failing>(), name);
    std::vector<char> room(10);
    const auto found = stream->read(room);
    EXPECT_EQ(found.status().code(), Code::unavailable);
    EXPECT_EQ(found.status().message(), "the store went away");
  }
}

}  // namespace
}  // namespace argosy::data
