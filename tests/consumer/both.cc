// A program that links torch's own targets before argosy's: the headers of each are found, and fmt is argosy's.
#include <ATen/ATen.h>
#include <argosy/base/status.h>

#include <cstdio>

int main() {
  const argosy::Status status = argosy::Status::not_found("{} {}", "torch is", at::ones({1}).defined() ? "here" : "away");
  std::printf("%s\n", status.message().c_str());
}
