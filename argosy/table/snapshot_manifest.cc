#include <algorithm>
#include <charconv>

#include "argosy/base/text.h"
#include "argosy/table/checksum.h"
#include "argosy/table/snapshot_format.h"

namespace argosy::table {
namespace {

constexpr std::string_view kTitle = "argosy snapshot 1";
constexpr uint32_t kMaxServers = 1 << 20;

// Takes words and numbers off the front of a line; after the first that is not as asked for, ok() is false.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  bool ok() const { return ok_; }
  bool finished() const { return ok_ && rest_.empty(); }
  std::string_view rest() const { return rest_; }

  std::string_view word() {
    const size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    ok_ = ok_ && !word.empty();
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  LineReader& expect(std::string_view wanted) {
    ok_ = word() == wanted && ok_;
    return *this;
  }
  LineReader& number(uint64_t& value, int base = 10) {
    const std::string_view text = word();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    ok_ = ok_ && error == std::errc() && end == text.data() + text.size();
    return *this;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// A file or folder name that stays in its folder.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos &&
         name.find('\n') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

bool read_server(LineReader& line, SnapshotInfo& info) {
  uint64_t server = 0, servers = 0;
  line.number(server).expect("of").number(servers);
  if (!line.finished() || servers > kMaxServers || server >= servers) return false;
  info.server = static_cast<uint32_t>(server);
  info.servers = static_cast<uint32_t>(servers);
  return true;
}

bool read_kind(LineReader& line, SnapshotInfo& info) {
  const std::string_view name = line.word();
  for (const SnapshotKind kind : {SnapshotKind::full, SnapshotKind::base, SnapshotKind::delta}) {
    if (name != kind_name(kind)) continue;
    info.kind = kind;
    return line.finished();
  }
  return false;
}

bool read_parent(LineReader& line, SnapshotInfo& info) {
  SnapshotParent parent;
  line.number(parent.id, 16);
  parent.name = line.rest();
  info.parent = std::move(parent);
  return line.ok();
}

bool read_part(LineReader& line, SnapshotManifest& manifest) {
  SnapshotPart part;
  part.file = line.word();
  line.expect("bytes").number(part.bytes).expect("chunks").number(part.chunks).expect("checksum").number(part.checksum, 16);
  manifest.parts.push_back(std::move(part));
  return line.finished() && is_plain_name(manifest.parts.back().file);
}

bool read_table(LineReader& line, SnapshotManifest& manifest) {
  SnapshotTable table;
  line.expect("count").number(table.count).expect("bytes").number(table.bytes).expect("name");
  table.name = line.rest();
  manifest.tables.push_back(std::move(table));
  return line.ok() && !manifest.tables.back().name.empty();
}

bool read_line(std::string_view text, SnapshotManifest& manifest) {
  LineReader line(text);
  const std::string_view what = line.word();
  if (what == "id") return line.number(manifest.info.id, 16).finished();
  if (what == "kind") return read_kind(line, manifest.info);
  if (what == "step") return line.number(manifest.info.step).finished();
  if (what == "server") return read_server(line, manifest.info);
  if (what == "parent") return read_parent(line, manifest.info);
  if (what == "state") return line.number(manifest.state_bytes).expect("checksum").number(manifest.state_checksum, 16).finished();
  if (what == "part") return read_part(line, manifest);
  if (what == "table") return read_table(line, manifest);
  return false;
}

// The last line is compared as it stands, so that no bit of it can change.
std::string end_line(std::string_view body) { return fmt::format("end {:016x}\n", checksum_of(std::as_bytes(std::span(body)))); }

// The text without its last line, which holds the checksum of the rest.
Result<std::string_view> without_end(std::string_view text) {
  const size_t last = text.rfind("\nend ");
  if (last == std::string_view::npos) return Status::data_loss("it does not end with a line 'end <checksum>'");
  const std::string_view body = text.substr(0, last + 1);
  const std::string expected = end_line(body);
  if (text.substr(last + 1) == expected) return body;
  return Status::data_loss("its last line is '{}', expected '{}'", trim(text.substr(last + 1, 100)), trim(expected));
}

}  // namespace

std::string_view kind_name(SnapshotKind kind) {
  switch (kind) {
    case SnapshotKind::full: return "full";
    case SnapshotKind::base: return "base";
    case SnapshotKind::delta: return "delta";
  }
  return "unknown";
}

Status check_info(const SnapshotInfo& info) {
  if (info.servers == 0 || info.servers > kMaxServers || info.server >= info.servers) {
    return Status::invalid_argument("there is no server {} of {}", info.server, info.servers);
  }
  if ((info.kind == SnapshotKind::delta) != info.parent.has_value()) {
    return Status::invalid_argument("a snapshot of kind {} {} a parent", kind_name(info.kind), info.parent ? "has not" : "needs");
  }
  if (info.parent && !is_plain_name(info.parent->name)) {
    return Status::invalid_argument("the parent's name '{}' is not that of a folder beside the snapshot", info.parent->name);
  }
  return {};
}

std::string manifest_text(const SnapshotManifest& manifest) {
  const SnapshotInfo& info = manifest.info;
  std::string text = fmt::format("{}\nid {:016x}\nkind {}\nstep {}\nserver {} of {}\n", kTitle, info.id, kind_name(info.kind),
                                 info.step, info.server, info.servers);
  if (info.parent) text += fmt::format("parent {:016x} {}\n", info.parent->id, info.parent->name);
  text += fmt::format("state {} checksum {:016x}\n", manifest.state_bytes, manifest.state_checksum);
  for (const SnapshotPart& part : manifest.parts) {
    text += fmt::format("part {} bytes {} chunks {} checksum {:016x}\n", part.file, part.bytes, part.chunks, part.checksum);
  }
  for (const SnapshotTable& table : manifest.tables) {
    text += fmt::format("table count {} bytes {} name {}\n", table.count, table.bytes, table.name);
  }
  return text + end_line(text);
}

Result<SnapshotManifest> parse_manifest(std::string_view text) {
  ASSIGN_OR_RETURN(std::string_view body, without_end(text));
  SnapshotManifest manifest;
  manifest.info.servers = 0;  // until a line says
  int number = 0;
  while (!body.empty()) {
    const size_t end = body.find('\n');
    const std::string_view line = body.substr(0, end);
    body.remove_prefix(end + 1);
    if (++number == 1 ? line == kTitle : read_line(line, manifest)) continue;
    return Status::data_loss("line {} is '{}', which a manifest of version 1 cannot have", number, line.substr(0, 200));
  }
  if (Status status = check_info(manifest.info); !status.ok()) return Status(Code::data_loss, status.message());
  return manifest;
}

}  // namespace argosy::table
