#include "argosy/parquet/parquet_file.h"

// The one symbol of the shared library argosy_parquet; argosy/data/column_file.h says who asks for it.
namespace argosy::parquet_module {
namespace {

class Files : public data::ColumnFiles {
 public:
  Result<std::unique_ptr<data::ColumnFile>> open_parquet(const std::string& path,
                                                         std::shared_ptr<data::ObjectFile> object) override {
    return parquet_module::open_parquet(path, std::move(object));
  }
  Result<std::unique_ptr<data::ColumnFile>> open_arrow(const std::string& path,
                                                       std::shared_ptr<data::ObjectFile> object) override {
    return parquet_module::open_arrow(path, std::move(object));
  }
  Result<data::RowBatches> read_stream(std::string bytes) override { return parquet_module::read_stream(std::move(bytes)); }
  Result<std::unique_ptr<data::ColumnFileWriter>> create_parquet(const std::string& path, ArrowSchema* schema,
                                                                 const data::ColumnWriteOptions& options) override {
    return parquet_module::create_parquet(path, schema, options);
  }
};

}  // namespace
}  // namespace argosy::parquet_module

extern "C" __attribute__((visibility("default"))) void* argosy_column_files(int version) {
  static argosy::data::ColumnFiles* const files =
      new argosy::parquet_module::Files;  // never destroyed: threads may be reading at exit
  return version == argosy::data::kColumnFilesVersion ? files : nullptr;
}
