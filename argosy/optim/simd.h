#pragma once

// Before a function with a loop that should use the widest vectors: one copy of it for AVX-512, one for AVX2 and one for any
// x86-64, chosen when the program is loaded. The choice runs before a sanitizer has set itself up, so sanitized builds have
// the plain copy only. This room is compiled without contraction, so all copies compute the same bits.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__) || !defined(__x86_64__)
#define ARGOSY_SIMD_CLONES
#else
#define ARGOSY_SIMD_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
