#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/base/uri.h"
#include "argosy/data/store_uri.h"

namespace argosy::data {

// A store of files behind a `hadoop fs`-style command. The command line is the words of ARGOSY_FS_COMMAND (`hadoop fs` where it
// is not set), then -D fs.default.name=… and -D hadoop.job.ugi=… where those are not empty, then what is to be done:
// -get FROM TO.
struct RemoteStore {
  std::string fs_name, fs_ugi;  // the second one has a password: no message shows either
  double seconds = 1800;        // that one command may take

  bool named() const { return !fs_name.empty() || !fs_ugi.empty(); }
};

bool is_remote_path(const std::string& path);  // one that begins with hdfs: or afs:, and is for the command

// The command line for `order`, such as {"-cat", path}; and its name in messages.
std::vector<std::string> store_command(const RemoteStore& store, const std::vector<std::string>& order);
std::string store_title(const std::vector<std::string>& order);

// Runs one. Anything but exit status 0 within store.seconds is an error with the end of the command's stderr; the command
// is killed then, and where a user ends the wait.
Status run_store_command(const RemoteStore& store, const std::vector<std::string>& order);

// A folder of this machine, of an object store (object_folder.h), or of a store behind a command. Without such a store's settings
// that is one whose name begins with hdfs: or afs:.
struct FolderPlace {
  FolderPlace(std::string folder, RemoteStore in = {}) : path(local_path(folder)), store(std::move(in)) {}
  FolderPlace(const char* folder) : FolderPlace(std::string(folder)) {}
  FolderPlace(const std::filesystem::path& folder) : FolderPlace(folder.string()) {}

  std::string path;
  RemoteStore store;

  bool in_object_store() const { return is_store_uri(path); }
  bool remote() const { return in_object_store() || is_remote_path(path) || store.named(); }
  // Refuses what cannot be a place. Nobody tells its path to others before.
  Status check() const;
};

}  // namespace argosy::data
