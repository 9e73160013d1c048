// Any bytes as what a stranger says at a server's door: only the greeting with the pass opens it, and no beginning of one does.
#include <cstdint>
#include <string>
#include <string_view>

#include "argosy/base/check.h"
#include "argosy/rpc/door_pass.h"

using namespace argosy::rpc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view said(reinterpret_cast<const char*>(data), size);
  static constexpr std::string_view kPass = "0123456789abcdef";
  const Greeting all = judge_greeting(said, kPass);
  if (all == Greeting::good)
    ARGOSY_CHECK(said.find(kPass) != said.npos && said.size() <= kLongestGreeting, "a door without a lock");
  if (all == Greeting::incomplete || all == Greeting::good) {
    for (size_t i = 0; i < size; ++i)
      ARGOSY_CHECK(judge_greeting(said.substr(0, i), kPass) == Greeting::incomplete, "a beginning that is more than the whole");
  }
  return 0;
}
