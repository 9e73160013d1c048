#include "argosy/base/endpoint_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace argosy {
namespace {

using ::testing::HasSubstr;

class EndpointName : public ::testing::Test {
 protected:
  EndpointName() { std::filesystem::create_directories(folder_); }
  ~EndpointName() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "server-0").string(); }
  std::string name() const { return "file:" + path(); }

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("endpoint_name_" + std::to_string(::getpid()));
};

TEST_F(EndpointName, TellsNamesFromAddresses) {
  EXPECT_TRUE(is_endpoint_name("file:/a"));
  EXPECT_FALSE(is_endpoint_name("file-server:6170"));
  EXPECT_TRUE(check_endpoint("node1:6170").ok());
  EXPECT_TRUE(check_endpoint("file:/a").ok());
  EXPECT_THAT(check_endpoint("file:a").message(), HasSubstr("names no file"));
  EXPECT_THAT(check_endpoint("node1").message(), HasSubstr("has no port"));
  EXPECT_FALSE(check_endpoint("node1:0").ok());
}

TEST_F(EndpointName, SaysWhatWasWrittenLast) {
  EXPECT_EQ(look_up_endpoint(name()).status().code(), Code::unavailable);
  ASSERT_TRUE(write_endpoint(path(), "10.0.0.5:6170").ok());
  EXPECT_EQ(*look_up_endpoint(name()), "10.0.0.5:6170");
  ASSERT_TRUE(write_endpoint(name(), "[::1]:7000").ok());
  EXPECT_EQ(*look_up_endpoint(name()), "[::1]:7000");
  ASSERT_TRUE(write_endpoint(name() + "-of/another", "n:1").ok()) << "its folder is made";
}

// Who waits for a server must not end because somebody writes the file by hand, line by line.
TEST_F(EndpointName, TakesNothingButAnAddress) {
  for (const char* text : {"", "10.0.0.5", "file:/b", "10.0.0.5:x"}) {
    std::ofstream(path()) << text;
    const auto found = look_up_endpoint(name());
    EXPECT_EQ(found.status().code(), Code::unavailable) << text;
    EXPECT_THAT(found.status().message(), HasSubstr("expected the server's host:port"));
  }
}

}  // namespace
}  // namespace argosy
