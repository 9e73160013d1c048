// What LeakSanitizer finds in Debian's gRPC 1.51 and c-ares for every user of them: a list of slices for each TLS connection, and
// a name that was looked up.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: the sanitizer's name

extern "C" const char* __lsan_default_suppressions() { return "leak:gpr_realloc\nleak:libcares\n"; }
