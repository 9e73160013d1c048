#include "argosy/rpc/endpoint.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "argosy/base/check.h"
#include "argosy/base/fd.h"

namespace argosy::rpc {
namespace {

namespace fs = std::filesystem;

// A folder that is TMPDIR while it lives.
class OwnTemporaryFolder {
 public:
  explicit OwnTemporaryFolder(const std::string& name = "argosy-rpc-XXXXXX") {
    std::string pattern = (fs::path("/tmp") / name).string();  // short enough for a socket's path
    ARGOSY_CHECK(::mkdtemp(pattern.data()) != nullptr, "no folder for the test");
    path_ = pattern;
    if (const char* before = ::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", path_.c_str(), 1);
  }
  ~OwnTemporaryFolder() {
    before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1);
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  std::string before_;
};

// A name server is never asked: it may answer late, or with another machine.
TEST(LocalAddress, IsOfThisMachinesNamesAlone) {
  for (const char* address : {"127.0.0.1", "10.1.2.3", "0.0.0.0", "::1", "fe80::1"}) EXPECT_EQ(local_address(address), address);
  const auto loopback = local_address("localhost");
  EXPECT_TRUE(!loopback || is_loopback(*loopback));
  for (const char* other : {"", "example.com", "no-such-host", "127.0.0", "256.0.0.1", "localhost:80", "local host"})
    EXPECT_EQ(local_address(other), std::nullopt) << other;
}

TEST(IsLoopback, OfAddresses) {
  for (const char* address : {"127.0.0.1", "127.255.0.9", "::1"}) EXPECT_TRUE(is_loopback(address)) << address;
  for (const char* address : {"", "0.0.0.0", "10.0.0.127", "1127.0.0.1", "::", "::2"})
    EXPECT_FALSE(is_loopback(address)) << address;
}

// The folder is made for this user alone, and the path differs for each address and port.
TEST(SocketPath, LiesInAFolderOfThisUserAlone) {
  const OwnTemporaryFolder folder;
  const auto path = socket_path("127.0.0.1", 6170);
  ASSERT_TRUE(path);
  EXPECT_EQ(fs::path(*path).parent_path().parent_path(), folder.path());
  struct stat found{};
  ASSERT_EQ(::stat(fs::path(*path).parent_path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700u);
  EXPECT_EQ(socket_path("127.0.0.1", 6170), path) << "the folder may be there already";
  EXPECT_NE(socket_path("127.0.0.1", 6171), path);
  EXPECT_NE(socket_path("127.0.0.2", 6170), path);
}

// A user who could write in the folder could put a socket of their own there, and be taken for the server.
TEST(SocketPath, AFolderThatOthersMayEnterIsNotUsed) {
  const OwnTemporaryFolder folder;
  const fs::path sockets = folder.path() / ("argosy-" + std::to_string(::geteuid()));
  fs::create_directory(sockets);
  ASSERT_EQ(::chmod(sockets.c_str(), 0770), 0);
  EXPECT_EQ(socket_path("127.0.0.1", 6170), std::nullopt);
  ASSERT_EQ(::chmod(sockets.c_str(), 0701), 0);
  EXPECT_EQ(socket_path("127.0.0.1", 6170), std::nullopt);
  ASSERT_EQ(::chmod(sockets.c_str(), 0700), 0);
  EXPECT_NE(socket_path("127.0.0.1", 6170), std::nullopt);
}

TEST(SocketPath, WhatIsNoFolderIsNotUsed) {
  const OwnTemporaryFolder folder, elsewhere;
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  const fs::path sockets = folder.path() / ("argosy-" + std::to_string(::geteuid()));
  std::ofstream(sockets) << "a file";
  EXPECT_EQ(socket_path("127.0.0.1", 6170), std::nullopt);
  fs::remove(sockets);
  fs::create_directory_symlink(elsewhere.path(), sockets);
  EXPECT_EQ(socket_path("127.0.0.1", 6170), std::nullopt) << "a link may point to another's folder";
  ::setenv("TMPDIR", "/proc/none", 1);
  EXPECT_EQ(socket_path("127.0.0.1", 6170), std::nullopt) << "there is no such folder";
}

// A Unix socket's path has 107 bytes at most; a server then listens at its port alone.
TEST(SocketPath, OneThatIsTooLongIsNone) {
  const OwnTemporaryFolder folder("a-name-that-is-so-long-that-no-socket-of-unix-can-have-a-path-with-it-in-front-XXXXXX");
  EXPECT_EQ(socket_path("127.0.0.1", 6170), std::nullopt);
}

TEST(IsOwnSocket, OnlyASocketIsOne) {
  const OwnTemporaryFolder folder;
  const std::string path = (folder.path() / "socket").string();
  EXPECT_FALSE(is_own_socket(path));
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof name.sun_path);
  std::memcpy(name.sun_path, path.c_str(), path.size());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  EXPECT_TRUE(is_own_socket(path));
  std::ofstream(folder.path() / "file") << "text";
  EXPECT_FALSE(is_own_socket((folder.path() / "file").string()));
  fs::create_symlink(path, folder.path() / "link");
  EXPECT_FALSE(is_own_socket((folder.path() / "link").string())) << "a link may change its mind";
}

}  // namespace
}  // namespace argosy::rpc
