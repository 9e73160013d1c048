#include "argosy/testing/temporary_folder.h"

#include <cstdlib>

#include "argosy/base/check.h"

namespace argosy::testing {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "argosy_test_XXXXXX";
  ARGOSY_CHECK(mkdtemp(pattern.data()) != nullptr, pattern);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace argosy::testing
