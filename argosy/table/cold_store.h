#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "argosy/base/status.h"

namespace argosy::table {

// The rows of a table that memory has no place for, as bytes by (shard, key). It is memory on disk and nothing more: it is
// emptied when it is opened, and nothing is written so that it survives the process (no log, no sync).
//
// Thread-safe: calls of several threads for one key are in some order.
class ColdStore {
 public:
  // Uses and owns `directory`/overflow-`name`, whatever was there. A name is written so that any string will do.
  // `fault` is StoreOptions::overflow_fault.
  static Result<std::unique_ptr<ColdStore>> open(const std::filesystem::path& directory, std::string_view name, size_t row_bytes,
                                                 std::function<Status()> fault = {});
  ~ColdStore();  // removes the files

  // Rows to write and keys to erase, together.
  class Batch {
   public:
    void put(uint32_t shard, uint64_t key, const void* row, size_t bytes);
    void erase(uint32_t shard, uint64_t key);
    bool empty() const { return batch_.Count() == 0; }

   private:
    friend class ColdStore;
    rocksdb::WriteBatch batch_;
  };
  // All of the batch, or nothing of it. resource_exhausted: the disk is full, and a later write may succeed.
  Status write(Batch&& batch);

  // For tests, before other threads use it: asked before each get(); an error is the disk's.
  void set_read_fault(std::function<Status()> fault) { read_fault_ = std::move(fault); }

  // Looks all keys up and calls found(i, row) for those that are there. Here and in Cursor, a row's bytes stand at any address.
  Status get(uint32_t shard, std::span<const uint64_t> keys, const std::function<void(size_t, const void*)>& found) const;

  // All rows as they are now, for cursors that are made later. Must not outlive the store.
  class View {
   public:
    explicit View(rocksdb::DB& db) : db_(db), snapshot_(db.GetSnapshot()) {}
    ~View() { db_.ReleaseSnapshot(snapshot_); }
    View(const View&) = delete;

   private:
    friend class ColdStore;
    rocksdb::DB& db_;
    const rocksdb::Snapshot* const snapshot_;
  };
  std::unique_ptr<View> view() const { return std::make_unique<View>(*db_); }

  // The rows of one shard in ascending order of keys, as they are when it is made, or as `view` has them.
  class Cursor {
   public:
    bool valid() const { return iterator_->Valid(); }
    uint64_t key() const;
    const void* row() const { return iterator_->value().data(); }
    void next() { iterator_->Next(); }
    Status status() const;

   private:
    friend class ColdStore;
    std::string end_;
    rocksdb::Slice end_slice_;
    std::unique_ptr<rocksdb::Iterator> iterator_;
  };
  std::unique_ptr<Cursor> rows(uint32_t shard, const View* view = nullptr) const;

 private:
  ColdStore(std::filesystem::path path, std::unique_ptr<rocksdb::DB> db, size_t row_bytes, std::function<Status()> fault);

  const std::filesystem::path path_;
  std::unique_ptr<rocksdb::DB> db_;
  const size_t row_bytes_;
  const std::function<Status()> fault_;
  std::function<Status()> read_fault_;
};

}  // namespace argosy::table
