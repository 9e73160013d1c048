#include "argosy/launch/process/interpreter.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace argosy::launch {
namespace {

namespace fs = std::filesystem;

// A virtual environment's launcher runs that environment's Python, also where another one comes first on PATH.
TEST(Interpreter, IsTheOneBesideTheLauncher) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("argosy-interpreter-{}", ::getpid());
  fs::create_directories(folder);
  for (const char* name : {"fleetrun", "python3"}) {
    std::ofstream(folder / name) << "#!/bin/sh\n";
    fs::permissions(folder / name, fs::perms::owner_all);
  }
  const std::string path = std::getenv("PATH");
  ::unsetenv("ARGOSY_PYTHON");
  EXPECT_EQ(find_python((folder / "fleetrun").string()), (folder / "python3").string());
  EXPECT_EQ(find_python("/nowhere/fleetrun"), "python3");
  ::setenv("PATH", (folder.string() + ":" + path).c_str(), 1);
  EXPECT_EQ(find_python("fleetrun"), (folder / "python3").string());
  ::setenv("ARGOSY_PYTHON", "/usr/bin/pythonX", 1);
  EXPECT_EQ(find_python("fleetrun"), "/usr/bin/pythonX");
  ::unsetenv("ARGOSY_PYTHON");
  ::setenv("PATH", path.c_str(), 1);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace argosy::launch
