#include "argosy/data/store_uri.h"

#include <algorithm>
#include <array>
#include <vector>

#include "argosy/base/env.h"
#include "argosy/base/text.h"
#include "argosy/base/uri.h"

namespace argosy::data {
namespace {

constexpr std::array<std::string_view, 5> kSchemes = {"s3", "gs", "gcs", "abfs", "abfss"};

bool hdfs_by_arrow() { return env_text("ARGOSY_HDFS").value_or("") == "arrow"; }

}  // namespace

bool is_store_uri(const std::string& path) {
  const std::string_view scheme = uri_scheme(path);
  if (scheme == "hdfs" || scheme == "viewfs") return hdfs_by_arrow();
  return std::ranges::find(kSchemes, scheme) != kSchemes.end();
}

Status check_store_uri(const std::string& uri) {
  RETURN_IF_ERROR(check_no_secrets(uri));
  const std::string hdfs = env_text("ARGOSY_HDFS").value_or("");
  if (!hdfs.empty() && hdfs != "arrow" && hdfs != "hadoop")
    return Status::invalid_argument("environment variable ARGOSY_HDFS is '{}', expected arrow or hadoop", hdfs);
  if (is_store_uri(uri)) {
    const std::string_view path = without_query(uri);
    if (path.size() > uri_scheme(uri).size() + 3 && path[uri_scheme(uri).size() + 3] != '/') return {};
    return Status::invalid_argument("'{}' names no bucket; expected {}://BUCKET/KEY", uri, uri_scheme(uri));
  }
  const std::vector<std::string> known = {"s3", "gs", "abfs", "hdfs", "kafka", "file"};
  const auto near = nearest_name(uri_scheme(uri), known);
  return Status::invalid_argument("there is no store for '{}': {}:// is none of {}{}", uri, uri_scheme(uri), join(known, ", "),
                                  near ? fmt::format("; did you mean {}://?", *near) : "");
}

}  // namespace argosy::data
