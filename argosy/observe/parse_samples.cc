#include <cctype>
#include <cmath>
#include <limits>

#include "argosy/base/text.h"
#include "argosy/observe/metrics.h"

namespace argosy::observe {
namespace {

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; }

// Reads one line from left to right. Every take_x() is false where the text is not what it should be.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  bool take_sample(Sample& sample) {
    return take_name(sample.name) && take_labels(sample.labels) && take_char(' ') && take_value(sample.value);
  }

 private:
  bool take_char(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_name(std::string& name) {
    size_t length = 0;
    while (length < rest_.size() && is_name_char(rest_[length])) ++length;
    name = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return length > 0;
  }

  bool take_labels(Labels& labels) {
    if (!take_char('{')) return true;
    while (!take_char('}')) {
      if (!labels.empty() && !take_char(',')) return false;
      auto& [name, value] = labels.emplace_back();
      if (!take_name(name) || !take_char('=') || !take_quoted(value)) return false;
    }
    return true;
  }

  bool take_quoted(std::string& text) {
    if (!take_char('"')) return false;
    while (!rest_.empty() && rest_.front() != '"') {
      const bool escaped = take_char('\\');
      if (rest_.empty()) return false;
      text += escaped && rest_.front() == 'n' ? '\n' : rest_.front();
      rest_.remove_prefix(1);
    }
    return take_char('"');
  }

  bool take_value(double& value) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (rest_ == "NaN") return value = std::nan(""), true;
    if (rest_ == "+Inf" || rest_ == "-Inf") return value = rest_.front() == '+' ? kInfinity : -kInfinity, true;
    const auto number = parse_number(rest_);
    if (number) value = *number;
    return number.has_value();
  }

  std::string_view rest_;
};

}  // namespace

Result<std::vector<Sample>> parse_samples(std::string_view text) {
  std::vector<Sample> samples;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    Sample sample;
    if (!LineReader(line).take_sample(sample))
      return Status::invalid_argument("'{}' is no line of metrics; expected name{{label=\"text\"}} value", line.substr(0, 200));
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace argosy::observe
