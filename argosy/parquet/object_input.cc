#include "argosy/parquet/object_input.h"

#include <arrow/buffer.h>
#include <arrow/io/file.h>

#include "argosy/parquet/arrow_status.h"

namespace argosy::parquet_module {
namespace {

// An error of ours on its way through Arrow.
class ObjectError : public arrow::StatusDetail {
 public:
  explicit ObjectError(Status status) : status_(std::move(status)) {}
  const char* type_id() const override { return kType; }
  std::string ToString() const override { return status_.message(); }
  const Status& status() const { return status_; }

  static constexpr const char* kType = "argosy::ObjectError";

 private:
  const Status status_;
};

class ObjectInput : public arrow::io::RandomAccessFile {
 public:
  explicit ObjectInput(std::shared_ptr<data::ObjectFile> object) : object_(std::move(object)) {}
  ~ObjectInput() override = default;

  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return at_; }
  arrow::Status Seek(int64_t position) override {
    at_ = position;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> GetSize() override { return object_->info().size; }

  arrow::Result<int64_t> ReadAt(int64_t position, int64_t count, void* out) override {
    auto* const bytes = static_cast<char*>(out);
    const int64_t end = std::min(position + count, object_->info().size);
    int64_t got = 0;
    while (position + got < end) {
      const auto read = object_->read_at(position + got, {bytes + got, static_cast<size_t>(end - position - got)});
      if (!read.ok())
        return arrow::Status::FromDetailAndArgs(arrow::StatusCode::IOError, std::make_shared<ObjectError>(read.status()),
                                                "object");
      got += static_cast<int64_t>(*read);
    }
    return got;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t count) override {
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::ResizableBuffer> buffer,
                          arrow::AllocateResizableBuffer(std::max<int64_t>(count, 0)));
    ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(position, count, buffer->mutable_data()));
    ARROW_RETURN_NOT_OK(buffer->Resize(got));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }
  arrow::Result<int64_t> Read(int64_t count, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t got, ReadAt(at_, count, out));
    at_ += got;
    return got;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t count) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(at_, count));
    at_ += buffer->size();
    return buffer;
  }

 private:
  const std::shared_ptr<data::ObjectFile> object_;
  int64_t at_ = 0;
  bool closed_ = false;
};

}  // namespace

arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> open_input(const std::string& path,
                                                                       std::shared_ptr<data::ObjectFile> object) {
  if (object != nullptr) return std::shared_ptr<arrow::io::RandomAccessFile>(std::make_shared<ObjectInput>(std::move(object)));
  ARROW_ASSIGN_OR_RAISE(auto file, arrow::io::ReadableFile::Open(path));
  return std::shared_ptr<arrow::io::RandomAccessFile>(std::move(file));
}

Status status_of_object(const arrow::Status& status) {
  const auto& detail = status.detail();
  if (detail == nullptr || detail->type_id() != std::string_view(ObjectError::kType)) return {};
  return static_cast<const ObjectError&>(*detail).status();
}

}  // namespace argosy::parquet_module
