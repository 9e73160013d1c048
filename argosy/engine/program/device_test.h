#pragma once

#include <c10/core/Device.h>

#include <cstdlib>
#include <string>

namespace argosy::engine {

// Where the tests of operators and programs run: the CPU, or what ARGOSY_TEST_DEVICE names, such as cuda:0. With
// ARGOSY_TEST_DEVICE=torch they run on the CPU, by the kernels' way for other devices.
inline c10::Device test_device() {
  const char* name = std::getenv("ARGOSY_TEST_DEVICE");
  return c10::Device(name == nullptr || std::string(name) == "torch" ? "cpu" : name);
}

}  // namespace argosy::engine
