#include "argosy/data/message_bytes.h"

#include <algorithm>

namespace argosy::data {

void append_bytes_line(std::string_view bytes, std::string& text) {
  while (!bytes.empty()) {
    const size_t plain = std::min(bytes.find_first_of("\\\n"), bytes.size());
    text.append(bytes.substr(0, plain));
    if (plain < bytes.size()) text += bytes[plain] == '\n' ? "\\n" : "\\\\";
    bytes.remove_prefix(std::min(plain + 1, bytes.size()));
  }
  text += '\n';
}

bool bytes_of_line(std::string_view line, std::string& bytes) {
  bytes.clear();
  bytes.reserve(line.size());
  while (!line.empty()) {
    const size_t plain = std::min(line.find('\\'), line.size());
    bytes.append(line.substr(0, plain));
    line.remove_prefix(plain);
    if (line.empty()) break;
    if (line.size() < 2 || (line[1] != 'n' && line[1] != '\\')) return false;
    bytes += line[1] == 'n' ? '\n' : '\\';
    line.remove_prefix(2);
  }
  return true;
}

}  // namespace argosy::data
