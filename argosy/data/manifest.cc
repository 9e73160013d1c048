#include <zlib.h>

#include <algorithm>

#include "argosy/base/text.h"
#include "argosy/base/uri.h"
#include "argosy/data/object_folder.h"

namespace argosy::data {
namespace {

constexpr std::string_view kHead = "argosy manifest 1";

uint32_t crc_of(std::string_view text) {
  return static_cast<uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

Status damaged(std::string_view what) {
  return Status::data_loss("the manifest is damaged: {}; save again, or remove it together with the objects beside it", what);
}

// A file of this machine, or an object, below its folder and nowhere else.
bool stays_inside(const std::string& name) {
  if (name.empty() || name.front() == '/') return false;
  const std::vector<std::string> parts = split(name, '/');
  return std::ranges::none_of(parts, [](const std::string& part) { return part.empty() || part == "." || part == ".."; });
}

Result<ManifestFile> file_of(const std::vector<std::string>& words) {
  if (words.size() != 5) return damaged("a line of a file has not five words");
  const auto size = parse_integer(words[2]), crc = parse_integer(words[3]);
  ManifestFile file{.name = decode_uri_path(words[1]), .object = decode_uri_path(words[4])};
  if (!size || *size < 0 || !crc || *crc < 0 || *crc > UINT32_MAX)
    return damaged(fmt::format("the size or checksum of '{}'", file.name));
  if (!stays_inside(file.name) || !stays_inside(file.object))
    return damaged(fmt::format("'{}' is not the name of a file in a folder", file.name));
  file.size = *size;
  file.crc32 = static_cast<uint32_t>(*crc);
  return file;
}

}  // namespace

std::string Manifest::to_text() const {
  std::string text = fmt::format("{}\nsave {}\n", kHead, id);
  if (mark != 0) text += fmt::format("mark {:016x}\n", mark);
  for (const ManifestFile& file : files)
    text += fmt::format("file {} {} {} {}\n", encode_uri_path(file.name), file.size, file.crc32, encode_uri_path(file.object));
  return text + fmt::format("end {} {}\n", files.size(), crc_of(text));
}

Result<Manifest> Manifest::from_text(const std::string& text) {
  const size_t end = text.rfind("\nend ");
  if (!text.starts_with(fmt::format("{}\n", kHead)) || end == std::string::npos)
    return damaged("it does not begin or end as one");
  Manifest manifest;
  const std::string_view body = std::string_view(text).substr(0, end + 1);
  std::string_view lines = body.substr(kHead.size() + 1);
  if (!lines.empty()) lines.remove_suffix(1);  // the end of the last line
  for (const std::string& line : split(lines, '\n')) {
    const std::vector<std::string> words = split(line, ' ');
    if (words.empty()) return damaged("it has an empty line");
    if (words[0] == "save" && words.size() == 2) {
      manifest.id = words[1];
    } else if (words[0] == "mark" && words.size() == 2) {
      manifest.mark = std::strtoull(words[1].c_str(), nullptr, 16);
    } else if (words[0] == "file") {
      ASSIGN_OR_RETURN(manifest.files.emplace_back(), file_of(words));
    } else {
      return damaged(fmt::format("a line begins with '{}'; was it written by a later version?", words[0]));
    }
  }
  if (std::string_view(text).substr(end + 1) != fmt::format("end {} {}\n", manifest.files.size(), crc_of(body)))
    return damaged("its checksum does not fit");
  return manifest;
}

}  // namespace argosy::data
