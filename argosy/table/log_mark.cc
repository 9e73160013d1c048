#include "argosy/table/log_mark.h"

#include <fmt/format.h>

#include <charconv>

#include "argosy/base/disk_file.h"
#include "argosy/base/file.h"
#include "argosy/base/text.h"
#include "argosy/table/checksum.h"

namespace argosy::table {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kName = "SYNCED";
constexpr size_t kRoom = 256;  // one write, within one sector

std::string text_of(const LogMark& mark) {
  const std::string fields = fmt::format("{} {} {}", mark.synced, mark.seconds, mark.boot);
  return fmt::format("{} {:016x}\n", fields, checksum_of(std::as_bytes(std::span(fields))));
}

std::optional<LogMark> mark_from(std::string_view text) {
  LogMark mark;
  const size_t first = text.find(' ');
  const size_t second = first == text.npos ? text.npos : text.find(' ', first + 1);
  const size_t third = second == text.npos ? text.npos : text.find(' ', second + 1);
  if (third == text.npos) return std::nullopt;
  const auto synced = parse_integer(text.substr(0, first));
  const auto seconds = parse_number(text.substr(first + 1, second - first - 1));
  if (!synced || *synced < 0 || !seconds) return std::nullopt;
  mark.synced = static_cast<uint64_t>(*synced);
  mark.seconds = *seconds;
  mark.boot = std::string(text.substr(second + 1, third - second - 1));
  return text == text_of(mark) ? std::optional(mark) : std::nullopt;
}

}  // namespace

std::optional<LogMark> read_mark(const fs::path& folder) {
  const auto bytes = read_file(folder / kName);
  if (!bytes.ok()) return bytes.status().code() == Code::not_found ? std::nullopt : std::optional<LogMark>(LogMark());
  return mark_from(std::string_view(*bytes).substr(0, bytes->find('\n') + 1)).value_or(LogMark());
}

Status write_mark(const fs::path& folder, const LogMark& mark) {
  std::string text = text_of(mark);
  text.resize(std::max(text.size(), kRoom), ' ');
  const fs::path path = folder / kName;
  std::error_code error;
  if (!fs::exists(path, error)) return write_file_atomically(path, text);
  ASSIGN_OR_RETURN(DiskFile file, DiskFile::open_to_write(path));
  const Bytes piece = std::as_bytes(std::span(text));
  return file.write_at(0, {&piece, 1});
}

void remove_mark(const fs::path& folder) {
  std::error_code ignored;  // where it cannot be removed it still says nothing that is wrong
  fs::remove(folder / kName, ignored);
}

std::string boot_id() {
  const auto text = read_file("/proc/sys/kernel/random/boot_id");
  return text.ok() ? std::string(trim(*text)) : "unknown";
}

}  // namespace argosy::table
