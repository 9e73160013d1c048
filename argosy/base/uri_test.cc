#include "argosy/base/uri.h"

#include <gmock/gmock.h>

namespace argosy {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Uri, IsAScheme) {
  for (const char* uri : {"s3://b/k", "gs://b", "abfs://c@a/k", "hdfs://h:9000/k", "kafka://b/t/0"})
    EXPECT_TRUE(is_uri(uri)) << uri;
  for (const char* path : {"part-0", "/a/b", "C://x", "a b://c", "://x", "", "S3://b"}) EXPECT_FALSE(is_uri(path)) << path;
  EXPECT_EQ(uri_scheme("s3://b/k"), "s3");
}

TEST(Uri, OfAFileIsAPath) {
  EXPECT_EQ(local_path("file:///a/b%20c"), "/a/b c");
  EXPECT_EQ(local_path("file://localhost/a"), "/a");
  EXPECT_EQ(local_path("a%20b"), "a%20b");
  EXPECT_EQ(local_path("s3://b/k"), "s3://b/k");
}

TEST(Uri, KeepsItsQueryBehindAName) {
  EXPECT_EQ(uri_child("s3://b/m?region=x", "__model__"), "s3://b/m/__model__?region=x");
  EXPECT_EQ(uri_child("s3://b/m/", "a b/c%"), "s3://b/m/a%20b/c%25");
  EXPECT_EQ(uri_child("s3://b", "k"), "s3://b/k");
  const UriParts parts = split_uri("s3://b/m/a%20b?region=x");
  EXPECT_EQ(parts.folder, "s3://b/m?region=x");
  EXPECT_EQ(parts.name, "a b");
  EXPECT_EQ(split_uri("s3://b").name, "");
}

TEST(Uri, OfAnyNameComesBack) {
  std::string name;
  for (int c = 1; c < 256; ++c) name.push_back(static_cast<char>(c));
  EXPECT_EQ(decode_uri_path(encode_uri_path(name)), name);
  EXPECT_EQ(decode_uri_path("100%"), "100%");
  EXPECT_EQ(decode_uri_path("%4"), "%4");
  EXPECT_EQ(decode_uri_path("%zz%41"), "%zzA");
}

// What is in a URI is in logs, messages and what servers keep.
TEST(Uri, WithAPasswordIsRefusedAndNotShown) {
  for (const char* uri : {"s3://AKIAX:topsecret@b/k", "s3://AKIAX@b/k", "abfs://c:topsecret@a/k", "s3://b/k?secret_key=topsecret",
                          "abfs://c@a/k?sas_TOKEN=topsecret", "s3://b/k?region=x&session_token=topsecret"}) {
    const Status status = check_no_secrets(uri);
    ASSERT_EQ(status.code(), Code::invalid_argument) << uri;
    EXPECT_THAT(status.message(), Not(HasSubstr("topsecret")));
    EXPECT_THAT(status.message(), Not(HasSubstr("AKIAX")));
    EXPECT_THAT(status.message(), HasSubstr("AWS_ACCESS_KEY_ID"));
  }
  for (const char* uri :
       {"s3://b/k", "s3://b/k@2x?region=x&endpoint_override=h:1", "abfs://container@account/k", "gs://anonymous@b/k"})
    EXPECT_TRUE(check_no_secrets(uri).ok()) << uri;
}

}  // namespace
}  // namespace argosy
