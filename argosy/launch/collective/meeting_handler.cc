#include "argosy/launch/collective/meeting_handler.h"

#include "argosy/launch/collective/meeting_wire.h"

namespace argosy::launch {
namespace {

class ReplyListener : public NodeListener {
 public:
  explicit ReplyListener(rpc::Reply reply) : reply_(std::move(reply)) {}
  void answer(const std::vector<LauncherMessage>& messages) override { reply_.send(to_lines(messages)); }
  bool gone() const override { return reply_.cancelled(); }

 private:
  rpc::Reply reply_;
};

Status no_such_call(const MeetingCall& call) {
  return Status::unimplemented("a launcher says, listens or leaves at the meeting place; found '{}'", call.kind);
}

void handle(Meeting& meeting, const MeetingCall& call, rpc::Reply reply) {
  if (call.kind == "listen") return meeting.listen(call.node, call.number, std::make_unique<ReplyListener>(std::move(reply)));
  Status status;
  if (call.kind == "say") {
    status = meeting.hear(call.node, call.number, call.messages);
  } else if (call.kind == "leave") {
    meeting.leave(call.node, call.number);
  } else {
    status = no_such_call(call);
  }
  if (status.ok()) return reply.send("");
  reply.fail(status);
}

}  // namespace

rpc::Handler meeting_handler(Meeting& meeting) {
  return [&meeting](const rpc::Request& request, rpc::Reply reply) {
    const auto call = parse_call(request.header);
    if (!call.ok()) return reply.fail(call.status());
    handle(meeting, *call, std::move(reply));
  };
}

}  // namespace argosy::launch
