#include "argosy/table/cold_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>

namespace argosy::table {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

using Row = std::array<float, 2>;

class ColdStoreTest : public testing::Test {
 protected:
  void TearDown() override {
    store_.reset();
    fs::remove_all(outer_);
  }
  std::unique_ptr<ColdStore> open(const std::string& name = "ids", std::function<Status()> fault = {}) const {
    return std::move(ColdStore::open(folder_, name, sizeof(Row), std::move(fault))).value();
  }
  Status put(uint32_t shard, uint64_t key, Row row) {
    ColdStore::Batch batch;
    batch.put(shard, key, row.data(), sizeof row);
    return store_->write(std::move(batch));
  }
  std::map<uint64_t, float> all(uint32_t shard, const ColdStore::View* view = nullptr) const {
    std::map<uint64_t, float> rows;
    for (auto cursor = store_->rows(shard, view); cursor->valid(); cursor->next()) {
      Row row;
      std::memcpy(row.data(), cursor->row(), sizeof row);  // at any address
      rows[cursor->key()] = row[0];
    }
    return rows;
  }

  const fs::path outer_ = fs::temp_directory_path() / ("argosy-cold-store-" + std::to_string(::getpid()));
  const fs::path folder_ = outer_ / "store";
  std::unique_ptr<ColdStore> store_ = open();
};

TEST_F(ColdStoreTest, GivesBackTheKeysThatItHas) {
  ASSERT_TRUE(put(3, 7, {1, 2}).ok());
  ASSERT_TRUE(put(3, 9, {3, 4}).ok());
  const std::vector<uint64_t> keys{9, 8, 7};
  std::map<size_t, float> found;
  ASSERT_TRUE(store_->get(3, keys, [&](size_t i, const void* row) { std::memcpy(&found[i], row, sizeof(float)); }).ok());
  EXPECT_THAT(found, ElementsAre(Pair(0, 3), Pair(2, 1)));
}

TEST_F(ColdStoreTest, ShardsAreApart) {
  ASSERT_TRUE(put(0, 7, {1, 1}).ok());
  ASSERT_TRUE(put(1, 7, {2, 2}).ok());
  EXPECT_THAT(all(0), ElementsAre(Pair(7, 1)));
  EXPECT_THAT(all(1), ElementsAre(Pair(7, 2)));
  EXPECT_THAT(all(2), IsEmpty());
}

// Keys are hashes: their top bit is set as often as not.
TEST_F(ColdStoreTest, RowsComeInTheOrderOfUnsignedKeys) {
  const uint64_t large = ~uint64_t{0};
  for (const uint64_t key : {large, uint64_t{1} << 63, uint64_t{0}, uint64_t{256}, uint64_t{1}})
    ASSERT_TRUE(put(5, key, {0, 0}).ok());
  std::vector<uint64_t> keys;
  for (auto cursor = store_->rows(5); cursor->valid(); cursor->next()) keys.push_back(cursor->key());
  EXPECT_THAT(keys, ElementsAre(0, 1, 256, uint64_t{1} << 63, large));
}

TEST_F(ColdStoreTest, ABatchWritesAndErasesTogether) {
  ASSERT_TRUE(put(0, 1, {1, 1}).ok());
  ColdStore::Batch batch;
  EXPECT_TRUE(batch.empty());
  const Row row{5, 5};
  batch.put(0, 2, row.data(), sizeof row);
  batch.erase(0, 1);
  batch.erase(0, 99);
  EXPECT_FALSE(batch.empty());
  ASSERT_TRUE(store_->write(std::move(batch)).ok());
  EXPECT_THAT(all(0), ElementsAre(Pair(2, 5)));
}

// A snapshot of the table reads the rows of its moment while pushes go on.
TEST_F(ColdStoreTest, AViewStaysAsItWas) {
  ASSERT_TRUE(put(0, 1, {1, 1}).ok());
  const auto view = store_->view();
  ASSERT_TRUE(put(0, 1, {2, 2}).ok());
  ASSERT_TRUE(put(0, 2, {3, 3}).ok());
  EXPECT_THAT(all(0, view.get()), ElementsAre(Pair(1, 1)));
  EXPECT_THAT(all(0), ElementsAre(Pair(1, 2), Pair(2, 3)));
}

TEST_F(ColdStoreTest, IsEmptyWhenItIsOpenedAndGoneWhenItIsClosed) {
  ASSERT_TRUE(put(0, 1, {1, 1}).ok());
  store_.reset();
  EXPECT_TRUE(!fs::exists(folder_) || fs::is_empty(folder_));
  store_ = open();
  EXPECT_THAT(all(0), IsEmpty());
}

TEST_F(ColdStoreTest, AnyNameWillDo) {
  const auto one = open("../a/b"), two = open("a b%"), three = open("ids.w_0@1");
  EXPECT_TRUE(fs::exists(folder_));
  EXPECT_FALSE(fs::exists(outer_ / "a"));
}

TEST_F(ColdStoreTest, AFaultWritesNothing) {
  bool full = true;
  store_.reset();
  store_ = open("ids", [&] { return full ? Status::resource_exhausted("the disk is full") : Status(); });
  EXPECT_EQ(put(0, 1, {1, 1}).code(), Code::resource_exhausted);
  EXPECT_THAT(all(0), IsEmpty());
  full = false;
  EXPECT_TRUE(put(0, 1, {1, 1}).ok()) << "a later write may succeed";
}

}  // namespace
}  // namespace argosy::table
