// A program of torch alone, in a project that has asked for argosy.
#include <ATen/ATen.h>

#include <cstdio>

#if !__has_include(<torch/torch.h>)
#error "torch/torch.h is not found through TORCH_LIBRARIES"
#endif

int main() { std::printf(at::ones({2}).sum().item<float>() == 2 ? "torch is here\n" : "?\n"); }
