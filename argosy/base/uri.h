#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"

// Places that are written as SCHEME://AUTHORITY/PATH?QUERY, such as s3://bucket/day/part-0?region=eu-west-1. Only their text:
// what lies there is for argosy/data/object_store.h.
namespace argosy {

bool is_uri(std::string_view path);

std::string_view uri_scheme(std::string_view path);  // "s3"; empty where it is no URI

// A file: URI of this machine as a path; everything else as it is.
std::string local_path(const std::string& path);

// In the folder that `uri` names, the query staying behind: child("s3://b/m?region=x", "a b") is "s3://b/m/a%20b?region=x".
// REQUIRES: is_uri(uri).
std::string uri_child(std::string_view uri, std::string_view name);

// The folder that `uri` lies in, and its last name, decoded; nothing below the bucket. REQUIRES: is_uri(uri).
struct UriParts {
  std::string folder, name;
};
UriParts split_uri(std::string_view uri);

// Without "?…".
std::string_view without_query(std::string_view uri);

// What may not stand in the path of a URI as %XX, and back.
std::string encode_uri_path(std::string_view path);
std::string decode_uri_path(std::string_view text);

// A password, key or token in a URI would be in messages, logs and what servers keep: an error that shows none of it.
Status check_no_secrets(std::string_view uri);

}  // namespace argosy
