#include "argosy/table/cold_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <array>
#include <bit>
#include <cctype>
#include <vector>

#if defined(__SANITIZE_THREAD__)
// Debian's RocksDB is built without ThreadSanitizer, which therefore misses its synchronisation and takes what it sees of it,
// memcpy and memcmp and strings, for races.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "called_from_lib:librocksdb.so\nrace:librocksdb.so\n"; }
#endif

namespace argosy::table {
namespace {

// Big-endian, so that RocksDB's order of bytes is the order of (shard, key).
using ColdKey = std::array<char, 12>;

ColdKey cold_key(uint32_t shard, uint64_t key) {
  ColdKey out;
  for (int i = 0; i < 4; ++i) out[i] = static_cast<char>(shard >> (24 - 8 * i));
  for (int i = 0; i < 8; ++i) out[4 + i] = static_cast<char>(key >> (56 - 8 * i));
  return out;
}

rocksdb::Slice slice(const ColdKey& key) { return {key.data(), key.size()}; }

Status from_rocksdb(const rocksdb::Status& status, std::string_view what) {
  if (status.ok()) return {};
  return Status(status.IsNoSpace() ? Code::resource_exhausted : Code::data_loss,
                fmt::format("overflow of a table: {}: {}", what, status.ToString()));
}

std::string folder_name(std::string_view name) {
  std::string out = "overflow-";
  for (const unsigned char c : name) {
    if (std::isalnum(c) || c == '_' || c == '-') {
      out += static_cast<char>(c);
    } else {
      out += fmt::format("%{:02x}", c);
    }
  }
  return out;
}

rocksdb::Options database_options() {
  rocksdb::BlockBasedTableOptions blocks;
  blocks.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));  // most keys that are asked for are new, not cold
  blocks.block_cache = rocksdb::NewLRUCache(size_t{8} << 20);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
  options.write_buffer_size = size_t{16} << 20;
  options.compression = rocksdb::kNoCompression;  // floats do not compress
  options.max_open_files = 256;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.info_log_level = rocksdb::ERROR_LEVEL;
  options.keep_log_file_num = 1;
  return options;
}

}  // namespace

Result<std::unique_ptr<ColdStore>> ColdStore::open(const std::filesystem::path& directory, std::string_view name,
                                                   size_t row_bytes, std::function<Status()> fault) {
  const std::filesystem::path path = directory / folder_name(name);
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) std::filesystem::create_directories(path, error);
  if (error)
    return Status::failed_precondition("cannot empty '{}' for rows beyond the memory limit: {}", path.string(), error.message());
  rocksdb::DB* db = nullptr;
  RETURN_IF_ERROR(from_rocksdb(rocksdb::DB::Open(database_options(), path.string(), &db), "open " + path.string()));
  return std::unique_ptr<ColdStore>(new ColdStore(path, std::unique_ptr<rocksdb::DB>(db), row_bytes, std::move(fault)));
}

ColdStore::ColdStore(std::filesystem::path path, std::unique_ptr<rocksdb::DB> db, size_t row_bytes, std::function<Status()> fault)
    : path_(std::move(path)), db_(std::move(db)), row_bytes_(row_bytes), fault_(std::move(fault)) {}

ColdStore::~ColdStore() {
  db_.reset();
  std::error_code ignored;  // what stays behind is emptied by the next open
  std::filesystem::remove_all(path_, ignored);
}

void ColdStore::Batch::put(uint32_t shard, uint64_t key, const void* row, size_t bytes) {
  // Into memory: cannot fail without a size limit.
  batch_.Put(slice(cold_key(shard, key)), {static_cast<const char*>(row), bytes}).PermitUncheckedError();
}

void ColdStore::Batch::erase(uint32_t shard, uint64_t key) { batch_.Delete(slice(cold_key(shard, key))).PermitUncheckedError(); }

Status ColdStore::write(Batch&& batch) {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  if (fault_) RETURN_IF_ERROR(fault_());
  return from_rocksdb(db_->Write(options, &batch.batch_), "write to " + path_.string());
}

Status ColdStore::get(uint32_t shard, std::span<const uint64_t> keys,
                      const std::function<void(size_t, const void*)>& found) const {
  if (read_fault_) RETURN_IF_ERROR(read_fault_());
  std::vector<ColdKey> bytes(keys.size());
  std::vector<rocksdb::Slice> slices(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    bytes[i] = cold_key(shard, keys[i]);
    slices[i] = slice(bytes[i]);
  }
  std::vector<rocksdb::PinnableSlice> rows(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  db_->MultiGet({}, db_->DefaultColumnFamily(), keys.size(), slices.data(), rows.data(), statuses.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].IsNotFound()) continue;
    RETURN_IF_ERROR(from_rocksdb(statuses[i], "read"));
    if (rows[i].size() != row_bytes_) {
      return Status::data_loss("overflow of a table: row {} has {} bytes, expected {}", keys[i], rows[i].size(), row_bytes_);
    }
    found(i, rows[i].data());
  }
  return {};
}

std::unique_ptr<ColdStore::Cursor> ColdStore::rows(uint32_t shard, const View* view) const {
  auto cursor = std::make_unique<Cursor>();
  const ColdKey end = cold_key(shard + 1, 0);
  cursor->end_.assign(end.data(), end.size());
  cursor->end_slice_ = cursor->end_;
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &cursor->end_slice_;
  options.fill_cache = false;
  if (view != nullptr) options.snapshot = view->snapshot_;
  cursor->iterator_.reset(db_->NewIterator(options));
  cursor->iterator_->Seek(slice(cold_key(shard, 0)));
  return cursor;
}

uint64_t ColdStore::Cursor::key() const {
  const rocksdb::Slice bytes = iterator_->key();
  uint64_t key = 0;
  for (size_t i = 4; i < bytes.size(); ++i) key = key << 8 | static_cast<unsigned char>(bytes[i]);
  return key;
}

Status ColdStore::Cursor::status() const { return from_rocksdb(iterator_->status(), "read"); }

}  // namespace argosy::table
