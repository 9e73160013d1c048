#include "argosy/data/decompress.h"

#include <zlib.h>
#include <zstd.h>

#include <vector>

#include "argosy/base/check.h"

namespace argosy::data {
namespace {

constexpr size_t kInput = 256 << 10;

// What the two formats share: input arrives in pieces, and an end inside a member or frame is an error.
class Unpacker : public ByteStream {
 public:
  Unpacker(std::unique_ptr<ByteStream> packed, std::string name)
      : packed_(std::move(packed)), name_(std::move(name)), input_(kInput) {}

  Result<size_t> read(std::span<char> room) override {
    size_t made = 0;
    while (made == 0) {
      if (begin_ == end_ && !input_ended_) {
        ASSIGN_OR_RETURN(end_, packed_->read(input_));
        begin_ = 0;
        input_ended_ = end_ == 0;
      }
      if (begin_ == end_ && whole_) return size_t{0};
      const size_t before = begin_;
      ASSIGN_OR_RETURN(made, unpack(room));
      if (made == 0 && begin_ == before && input_ended_) {
        return Status::data_loss("'{}' is cut off: the archive ends before its text does; copy or make the file again", name_);
      }
    }
    return made;
  }

 protected:
  // Unpacks what is in [begin_, end_), moves begin_, sets whole_, and returns how much text it put into `room`.
  virtual Result<size_t> unpack(std::span<char> room) = 0;

  Status damaged(const char* reason) const {
    return Status::data_loss("'{}' is damaged: {}; copy or make the file again", name_, reason);
  }

  std::unique_ptr<ByteStream> packed_;
  const std::string name_;
  std::vector<char> input_;
  size_t begin_ = 0, end_ = 0;
  bool input_ended_ = false;
  bool whole_ = false;  // nothing but whole members or frames, and at least one, has been read
};

class GzipStream : public Unpacker {
 public:
  GzipStream(std::unique_ptr<ByteStream> packed, std::string name) : Unpacker(std::move(packed), std::move(name)) {
    constexpr int kGzipOnly = 16;
    ARGOSY_CHECK(inflateInit2(&zlib_, MAX_WBITS + kGzipOnly) == Z_OK, "zlib has no memory");
  }
  ~GzipStream() override { inflateEnd(&zlib_); }

 private:
  Result<size_t> unpack(std::span<char> room) override {
    if (whole_) {  // another member
      inflateReset(&zlib_);
      whole_ = false;
    }
    zlib_.next_in = reinterpret_cast<Bytef*>(input_.data() + begin_);
    zlib_.avail_in = static_cast<uInt>(end_ - begin_);
    zlib_.next_out = reinterpret_cast<Bytef*>(room.data());
    zlib_.avail_out = static_cast<uInt>(std::min<size_t>(room.size(), 1 << 30));
    const uInt room_before = zlib_.avail_out;
    const int outcome = inflate(&zlib_, Z_NO_FLUSH);
    begin_ = end_ - zlib_.avail_in;
    if (outcome == Z_STREAM_END) {
      whole_ = true;
    } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
      return damaged(zlib_.msg != nullptr ? zlib_.msg : "it is no gzip archive");
    }
    return static_cast<size_t>(room_before - zlib_.avail_out);
  }

  z_stream zlib_{};
};

class ZstdStream : public Unpacker {
 public:
  ZstdStream(std::unique_ptr<ByteStream> packed, std::string name) : Unpacker(std::move(packed), std::move(name)) {
    ARGOSY_CHECK(zstd_ != nullptr, "zstd has no memory");
  }
  ~ZstdStream() override { ZSTD_freeDStream(zstd_); }

 private:
  Result<size_t> unpack(std::span<char> room) override {
    ZSTD_inBuffer in{input_.data(), end_, begin_};
    ZSTD_outBuffer out{room.data(), room.size(), 0};
    const size_t hint = ZSTD_decompressStream(zstd_, &out, &in);
    begin_ = in.pos;
    if (ZSTD_isError(hint)) return damaged(ZSTD_getErrorName(hint));
    whole_ = hint == 0;
    return out.pos;
  }

  ZSTD_DStream* zstd_ = ZSTD_createDStream();
};

}  // namespace

bool is_packed_name(const std::string& name) { return name.ends_with(".gz") || name.ends_with(".zst"); }

std::unique_ptr<ByteStream> decompress_by_name(std::unique_ptr<ByteStream> packed, const std::string& name) {
  if (name.ends_with(".gz")) return std::make_unique<GzipStream>(std::move(packed), name);
  if (name.ends_with(".zst")) return std::make_unique<ZstdStream>(std::move(packed), name);
  return packed;
}

}  // namespace argosy::data
