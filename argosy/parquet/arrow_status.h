#pragma once

#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/io_util.h>
#include <parquet/exception.h>

#include <exception>
#include <new>
#include <string>

#include "argosy/base/status.h"

// Arrow's outcomes as ours. Nothing that is thrown leaves the module.
namespace argosy::parquet_module {

// The error of ours that an object's reader gave Arrow; ok: it is Arrow's own (object_input.h).
Status status_of_object(const arrow::Status& status);

inline Status status_of(const arrow::Status& status, const std::string& path) {
  if (status.ok()) return {};
  if (Status ours = status_of_object(status); !ours.ok()) return ours;
  if (status.IsOutOfMemory())
    return Status::resource_exhausted("{}: there is no memory for what the file says it holds: {}", path, status.message());
  // Arrow calls what it cannot unpack an I/O error too; what the system refused has an errno.
  if (status.IsIOError() && arrow::internal::ErrnoFromStatus(status) != 0)
    return Status::unavailable("{}: {}", path, status.message());
  return Status::data_loss("{}: the file is damaged, or is not what its name says: {}", path, status.message());
}

// The outcome of `work`, which gives a Status or Result of ours.
template <typename Work>
auto guarded(const std::string& path, Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const parquet::ParquetStatusException& error) {
    return status_of(error.status(), path);
  } catch (const std::bad_alloc&) {
    return Status::resource_exhausted("{}: there is no memory for what the file says it holds", path);
  } catch (const std::exception& error) {
    return Status::data_loss("{}: the file is damaged, or is not what its name says: {}", path, error.what());
  }
}

#define ARGOSY_ARROW_RETURN_IF_ERROR(expression, path) RETURN_IF_ERROR(::argosy::parquet_module::status_of((expression), (path)))
#define ARGOSY_ARROW_ASSIGN(declaration, expression, path) \
  ARGOSY_ARROW_ASSIGN_INNER(ARGOSY_CONCAT(arrow_result_, __LINE__), declaration, expression, path)
#define ARGOSY_ARROW_ASSIGN_INNER(result, declaration, expression, path)                 \
  auto result = (expression);                                                            \
  if (!result.ok()) return ::argosy::parquet_module::status_of(result.status(), (path)); \
  declaration = std::move(result).ValueUnsafe()

}  // namespace argosy::parquet_module
