#pragma once

#include <string>

#include "argosy/base/status.h"

namespace argosy::data {

// Whether a path is one of an object store (object_store.h). hdfs:// and viewfs:// are where ARGOSY_HDFS=arrow; else hdfs: is for
// `hadoop fs` (remote_store.h).
bool is_store_uri(const std::string& path);

// Whether the URI can be one of a store: a scheme that there is, a bucket, and no password in it.
Status check_store_uri(const std::string& uri);

}  // namespace argosy::data
