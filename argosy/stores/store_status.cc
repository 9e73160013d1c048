#include "argosy/stores/store_status.h"

#include <arrow/util/io_util.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

namespace argosy::stores_module {
namespace {

// What Arrow puts into its messages of S3: the name of AWS's error, or the status of an answer without one. The first that is
// found counts.
constexpr std::array<std::pair<std::string_view, Code>, 21> kWords = {{
    {"NO_SUCH_BUCKET", Code::not_found},
    {"NO_SUCH_KEY", Code::not_found},
    {"RESOURCE_NOT_FOUND", Code::not_found},
    {"HTTP status 404", Code::not_found},
    {"ACCESS_DENIED", Code::permission_denied},
    {"INVALID_ACCESS_KEY_ID", Code::permission_denied},
    {"INVALID_CLIENT_TOKEN_ID", Code::permission_denied},
    {"SIGNATURE_DOES_NOT_MATCH", Code::permission_denied},
    {"MISSING_AUTHENTICATION_TOKEN", Code::permission_denied},
    {"UNRECOGNIZED_CLIENT", Code::permission_denied},
    {"ExpiredToken", Code::permission_denied},
    {"HTTP status 401", Code::permission_denied},
    {"HTTP status 403", Code::permission_denied},
    {"HTTP status 416", Code::data_loss},
    {"InvalidRange", Code::data_loss},
    {"REQUEST_TIMEOUT", Code::unavailable},
    {"HTTP status 400", Code::invalid_argument},
    {"HTTP status 301", Code::invalid_argument},
    {"InvalidBucketName", Code::invalid_argument},
    {"PermanentRedirect", Code::invalid_argument},
    {"AuthorizationHeaderMalformed", Code::invalid_argument},
}};

Code code_of(const arrow::Status& status) {
  if (status.IsOutOfMemory()) return Code::resource_exhausted;
  if (status.IsNotImplemented()) return Code::unimplemented;
  if (status.IsInvalid() || status.IsTypeError()) return Code::invalid_argument;
  const int error = arrow::internal::ErrnoFromStatus(status);
  if (error == ENOENT || error == ENOTDIR) return Code::not_found;
  if (error == EACCES || error == EPERM) return Code::permission_denied;
  for (const auto& [word, code] : kWords)
    if (status.message().find(word) != std::string::npos) return code;
  return Code::unavailable;
}

}  // namespace

Status status_of(const arrow::Status& status) { return status.ok() ? Status() : Status(code_of(status), status.message()); }

}  // namespace argosy::stores_module
