#include <ATen/ATen.h>
#include <argosy/base/file.h>
#include <argosy/base/status.h>

#include <cstdio>

int main() {
  const auto missing = argosy::read_file("no/such/file");
  std::printf("%s\n%d ones\n", missing.status().to_string().c_str(), at::ones({3}).sum().item<int>());
  return missing.ok() ? 1 : 0;
}
