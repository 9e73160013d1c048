#include "argosy/observe/trace.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "argosy/base/file.h"
#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/system_error.h"
#include "argosy/observe/json_writer.h"

namespace argosy::observe {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = 256 << 10;

struct TraceFile {
  Mutex mutex;
  std::FILE* file ARGOSY_GUARDED_BY(mutex) = nullptr;
  int64_t spans ARGOSY_GUARDED_BY(mutex) = 0;
};

// Leaked on purpose: threads may end a span while static objects are destroyed.
TraceFile& trace_file() {
  static TraceFile& instance = *new TraceFile;
  return instance;
}

// One event of metadata: the name of a process or a thread.
std::string name_event(const char* kind, int thread, const std::string& name) {
  JsonWriter json;
  json.begin_object().text("name", kind).text("ph", "M").number("pid", ::getpid()).number("tid", thread);
  json.begin_object("args").text("name", name).end_object().end_object();
  return json.json() + ",\n";
}

std::string thread_name() {
  char name[16] = {};
  ::prctl(PR_GET_NAME, name);
  return name;
}

}  // namespace

std::atomic<bool> internal::tracing{false};

int64_t internal::wall_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void internal::add_span(const char* name, int64_t begin_ns, int64_t end_ns) {
  thread_local const int thread = ::gettid();
  thread_local bool named = false;
  TraceFile& trace = trace_file();
  MutexLock lock(trace.mutex);
  if (trace.file == nullptr) return;
  if (!std::exchange(named, true)) std::fputs(name_event("thread_name", thread, thread_name()).c_str(), trace.file);
  std::fprintf(trace.file, "{\"name\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f},\n", name, ::getpid(),
               thread, 1e-3 * static_cast<double>(begin_ns), 1e-3 * static_cast<double>(end_ns - begin_ns));
  if (++trace.spans == kMostSpans) {
    log_warning("the trace has {} spans; it ends here", kMostSpans);
    tracing = false;
    std::fflush(trace.file);
  }
}

Status start_trace(const std::string& folder, const std::string& process) {
  RETURN_IF_ERROR(make_folder(folder));
  std::string name = process;
  std::replace(name.begin(), name.end(), ' ', '-');
  const fs::path path = fs::path(folder) / fmt::format("trace-{}.json", name);
  TraceFile& trace = trace_file();
  MutexLock lock(trace.mutex);
  if (trace.file != nullptr) return {};
  trace.file = std::fopen(path.c_str(), "we");
  if (trace.file == nullptr) return system_error("cannot write the trace", path);
  std::setvbuf(trace.file, nullptr, _IOFBF, kBufferBytes);
  std::fputs(("[\n" + name_event("process_name", 0, process)).c_str(), trace.file);
  internal::tracing = true;
  std::atexit(flush_trace);
  return {};
}

void flush_trace() {
  TraceFile& trace = trace_file();
  MutexLock lock(trace.mutex);
  if (trace.file != nullptr) std::fflush(trace.file);
}

// A file of a process that was killed may end within an event.
Status join_traces(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with("trace-")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string all = "[\n";
  for (const fs::path& file : files) {
    ASSIGN_OR_RETURN(const std::string text, read_file(file));
    const size_t begin = text.find('\n') + 1, end = text.rfind(",\n");
    if (end != std::string::npos && end > begin) all += text.substr(begin, end + 2 - begin);
  }
  if (all.ends_with(",\n")) all.replace(all.size() - 2, 1, "");
  return write_file_atomically(fs::path(folder) / "trace.json", all + "]\n");
}

}  // namespace argosy::observe
