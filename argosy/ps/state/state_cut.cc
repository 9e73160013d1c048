#include "argosy/ps/state/state_cut.h"

#include <algorithm>
#include <limits>

namespace argosy::ps {
namespace {

constexpr size_t kMessageBytes = std::numeric_limits<int>::max();  // of protobuf
constexpr size_t kKeysInItem = size_t{1} << 20;

// Collects items until there are enough for a piece.
class PieceWriter {
 public:
  PieceWriter(uint64_t piece_bytes, const std::function<Status(std::string_view)>& visit) : limit_(piece_bytes), visit_(visit) {}

  wire::StateImage& image() { return image_; }
  // An item of about `bytes` was added.
  Status added(uint64_t bytes) {
    bytes_ += bytes;
    return bytes_ >= limit_ ? flush() : Status();
  }
  Status flush() {
    if (bytes_ == 0) return {};
    ASSIGN_OR_RETURN(const std::string piece, serialise(image_));
    RETURN_IF_ERROR(visit_(piece));
    image_.Clear();
    bytes_ = 0;
    ++pieces_;
    return {};
  }
  uint64_t pieces() const { return pieces_; }

 private:
  const uint64_t limit_;
  const std::function<Status(std::string_view)>& visit_;
  wire::StateImage image_;
  uint64_t bytes_ = 0;
  uint64_t pieces_ = 0;
};

Status write_held(const StateCut::Held& held, PieceWriter& pieces) {
  wire::StateImage::Held* out = pieces.image().add_held();
  out->set_header(held.header);
  out->set_payload(held.payload.data(), held.payload.size());
  return pieces.added(held.header.size() + held.payload.size() + 1);
}

Status write_message(const StateCut::Message& message, PieceWriter& pieces) {
  auto* boxes = pieces.image().mutable_exchange()->mutable_boxes();
  if (boxes->empty() || boxes->rbegin()->to() != message.to) boxes->Add()->set_to(message.to);
  boxes->rbegin()->add_from(message.from);
  boxes->rbegin()->add_messages(*message.bytes);
  return pieces.added(message.bytes->size() + 1);
}

Status write_changed(const StateCut::Changed& changed, PieceWriter& pieces) {
  const std::vector<uint64_t> all = changed.pending.keys();
  const std::span<const uint64_t> keys = all;
  size_t at = 0;
  do {  // a worker without keys is tracked all the same
    const auto some = keys.subspan(at, std::min(kKeysInItem, keys.size() - at));
    wire::StateImage::Changed* out = pieces.image().add_changed();
    out->set_table(changed.table);
    out->set_worker(changed.pending.worker());
    out->mutable_keys()->Assign(some.begin(), some.end());
    RETURN_IF_ERROR(pieces.added(some.size_bytes() + 1));
    at += some.size();
  } while (at < keys.size());
  return {};
}

}  // namespace

Result<std::string> serialise(const google::protobuf::MessageLite& message, uint64_t most_bytes) {
  const size_t size = message.ByteSizeLong();
  if (size > most_bytes) {
    return Status::resource_exhausted("a {} of {} bytes is larger than a message may be, {} bytes", message.GetTypeName(), size,
                                      most_bytes);
  }
  std::string bytes;
  if (message.SerializeToString(&bytes) && bytes.size() == size) return bytes;
  return Status::internal("a {} of {} bytes could not be serialised: {} bytes came out", message.GetTypeName(), size,
                          bytes.size());
}

Result<std::string> StateCut::write(uint64_t piece_bytes, const std::function<Status(std::string_view piece)>& visit) {
  PieceWriter pieces(piece_bytes, visit);
  for (const Held& one : held) RETURN_IF_ERROR(write_held(one, pieces));
  for (const Message& one : messages) RETURN_IF_ERROR(write_message(one, pieces));
  for (const Changed& one : changed) RETURN_IF_ERROR(write_changed(one, pieces));
  RETURN_IF_ERROR(pieces.flush());
  head.set_pieces(pieces.pieces());
  return serialise(head);
}

Status StateImageReader::add(std::string_view piece) {
  wire::StateImage image;
  if (!image.ParseFromArray(piece.data(), static_cast<int>(piece.size()))) {
    return Status::data_loss("piece {} of the state ({} bytes) cannot be read", pieces_, piece.size());
  }
  image_.MergeFrom(image);
  ++pieces_;
  return {};
}

Result<wire::StateImage> StateImageReader::finish(std::string_view head) && {
  wire::StateImage last;
  if (head.size() > kMessageBytes || !last.ParseFromArray(head.data(), static_cast<int>(head.size()))) {
    return Status::data_loss("the state ({} bytes) cannot be read", head.size());
  }
  if (last.pieces() != pieces_) return Status::data_loss("the state has {} pieces, expected {}", pieces_, last.pieces());
  image_.MergeFrom(last);
  return std::move(image_);
}

}  // namespace argosy::ps
