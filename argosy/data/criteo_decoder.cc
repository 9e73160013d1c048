#include "argosy/data/criteo_decoder.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "argosy/data/number.h"

namespace argosy::data {
namespace {

constexpr int kFirstCategoryField = 14;
constexpr int kLogValues = 4096;
// The scale of each dense field; the same figures as the quick start's reader, so that its models stay comparable.
constexpr std::array<double, kCriteoDense> kMinimum = {0, -3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
constexpr std::array<double, kCriteoDense> kSpan = {20, 603, 100, 50, 64000, 500, 100, 50, 500, 10, 10, 10, 50};

bool ends_field(char c) { return c == '\t' || c == '\n'; }
bool ends_line(const char* at) { return *at == '\n' || (at[0] == '\r' && at[1] == '\n'); }

const char* skip_blanks(const char* at) {
  while (*at == ' ' || (*at == '\r' && at[1] != '\n')) ++at;
  return at;
}

uint32_t crc_step(uint32_t crc, char byte, const z_crc_t* table) {
  return table[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
}

// Shortest digits that read back as the same double, always with a point or an exponent, as Python prints a float.
void append_shortest(double value, std::string& out) {
  const size_t before = out.size();
  fmt::format_to(std::back_inserter(out), "{}", value);
  const bool whole = out.find_first_not_of("-0123456789", before) == std::string::npos;
  if (whole) out += ".0";
}

void append_six_decimals(double value, std::string& out) { fmt::format_to(std::back_inserter(out), "{:.6f}", value); }

float read_back(const std::string& text) {
  float value = 0;
  const std::string padded = text + "\n" + std::string(kTextPadding, '\0');
  read_float(padded.data(), value);
  return value;
}

// The float nearest to the shortest text of `value`. That is the float nearest to `value` itself, except perhaps where
// `value` lies in the very middle of two floats and its shortest text to one side of it.
float float_of_text(double value) {
  constexpr uint64_t kBelowFloat = (uint64_t{1} << 29) - 1, kMiddle = uint64_t{1} << 28;
  if ((std::bit_cast<uint64_t>(value) & kBelowFloat) != kMiddle) return static_cast<float>(value);
  std::string text;
  append_shortest(value, text);
  return read_back(text);
}

const char* fail(const char* at, int field, std::string_view expected, LineError& error) {
  error = {at, fmt::format("Criteo field {} of 40: found {}, expected {}", field + 1, quote_word(at, "\t\r"), expected)};
  return nullptr;
}

}  // namespace

CriteoDecoder::CriteoDecoder(const CriteoOptions& options) : options_(options) {
  const bool log = options.scheme == CriteoScheme::log1p;
  const z_crc_t* table = get_crc_table();
  for (int i = 0; i < kCriteoCategories; ++i) {
    const std::string prefix = fmt::format("{}{}", kFirstCategoryField + i, log ? "_" : "");
    prefix_crc_[i] = ~uint32_t{0};
    for (char byte : prefix) prefix_crc_[i] = crc_step(prefix_crc_[i], byte, table);
  }
  for (int i = 0; log && i < kLogValues; ++i) {
    std::string text;
    append_six_decimals(std::log1p(i) / 5.0, text);
    log_values_.push_back(read_back(text));
  }
}

const char* CriteoDecoder::decode(const char* line, CriteoSample& sample, LineError& error) const {
  const char* at = skip_blanks(line);
  if (*at == '+') ++at;
  const char* end = read_int64(at, sample.label);
  if (end != nullptr) end = skip_blanks(end);
  if (end == nullptr || !ends_field(*end)) return fail(line, 0, "the label, an integer", error);
  at = end;
  for (int i = 0; i < kCriteoDense; ++i) {
    if (*at != '\t') return fail(at, i + 1, "40 fields separated by tabs", error);
    const char* field = ++at;
    sample.missing[i] = ends_field(*at);
    if (!sample.missing[i] && !read_number(at, sample.numbers[i])) {
      return fail(field, i + 1, options_.scheme == CriteoScheme::span ? "a number or nothing" : "an integer or nothing", error);
    }
  }
  for (int i = 0; i < kCriteoCategories; ++i) {
    if (*at != '\t') return fail(at, kFirstCategoryField + i, "40 fields separated by tabs", error);
    at = read_category(at + 1, i, sample.ids[i]);
  }
  while (*at != '\n') ++at;
  return at + 1;
}

bool CriteoDecoder::read_number(const char*& at, double& number) const {
  const char* begin = skip_blanks(at);
  int64_t integer;
  const char* end = read_int64(begin, integer);
  constexpr int64_t kExact = int64_t{1} << 53;  // integers up to here are doubles
  const bool whole = end != nullptr && ends_field(*end) && -kExact <= integer && integer <= kExact;
  if (whole) {
    number = static_cast<double>(integer);
  } else {
    if (options_.scheme == CriteoScheme::log1p) return false;
    end = read_double_slowly(begin, number);
  }
  if (end == nullptr) return false;
  at = skip_blanks(end);
  return ends_field(*at);
}

const char* CriteoDecoder::read_category(const char* at, int field, int64_t& id) const {
  static const z_crc_t* const table = get_crc_table();
  uint32_t crc = prefix_crc_[field];
  while (*at != '\t' && !ends_line(at)) crc = crc_step(crc, *at++, table);
  id = static_cast<int64_t>(static_cast<uint32_t>(~crc)) % options_.hash_dim;
  return at;
}

double CriteoDecoder::scaled(const CriteoSample& sample, int field) const {
  const double number = sample.numbers[field];
  return options_.scheme == CriteoScheme::span ? (number - kMinimum[field]) / kSpan[field] : std::log1p(number) / 5.0;
}

void CriteoDecoder::append_dense(const CriteoSample& sample, int field, std::string& out) const {
  const bool log = options_.scheme == CriteoScheme::log1p;
  if (sample.missing[field] || (log && sample.numbers[field] < 0)) {
    out += "0.0";
  } else if (log) {
    append_six_decimals(scaled(sample, field), out);
  } else {
    append_shortest(scaled(sample, field), out);
  }
}

float CriteoDecoder::dense(const CriteoSample& sample, int field) const {
  if (sample.missing[field]) return 0;
  if (options_.scheme == CriteoScheme::span) return float_of_text(scaled(sample, field));
  const double number = sample.numbers[field];
  if (number < kLogValues) return number < 0 ? 0 : log_values_[static_cast<size_t>(number)];
  std::string text;
  append_six_decimals(scaled(sample, field), text);
  return read_back(text);
}

}  // namespace argosy::data
