#pragma once

#include <array>

#include "argosy/ps/server/server_options.h"
#include "argosy/ps/state/limit.h"

namespace argosy::ps {

// Every limit of a server that callers can reach, in one table. What a caller is told, and Stats, name them as here. (The port
// has its own, for those who have not shown that they belong to the job: rpc/rpc_limits.h.)
struct ServerLimits {
  explicit ServerLimits(const ServerOptions& options)
      : parked_bytes("parked_limit", options.parked_limit_bytes, "bytes of calls that wait",
                     "raise parked_limit (ARGOSY_PARKED_LIMIT), or let workers have fewer calls under way"),
        unread_mail("unread_mail_limit", options.unread_mail_limit_bytes, "bytes of messages that nobody has taken",
                    "let the receiving workers catch up, or raise unread_mail_limit (ARGOSY_UNREAD_MAIL_LIMIT)"),
        waiting_keys("waiting_keys_limit", options.waiting_keys_limit_bytes, "bytes of keys that are counted and not admitted",
                     "shrink the tables, admit keys sooner, or raise waiting_keys_limit (ARGOSY_WAITING_KEYS_LIMIT)"),
        held_answers("held_answers", options.reply_limit_bytes,
                     "bytes of answers that wait for the follower to have what they rest on",
                     "try again; if it stays so, look at the follower's machine, or raise reply_limit (ARGOSY_REPLY_LIMIT)"),
        answer("max_message_bytes", options.max_message_bytes, "bytes in an answer", "ask for less at a time") {}

  Limit parked_calls{"parked_calls", 65536, "calls that wait", "let fewer threads wait at a time"};
  Limit parked_bytes;
  Limit unread_mail;
  Limit gatherings{"open_gatherings", 65536, "barriers and gathers that are not complete", "finish some before beginning more"};
  Limit gathering_bytes{"open_gathering_bytes", uint64_t{1} << 30, "bytes of gathers that are not complete",
                        "gather less, or finish some before beginning more"};
  Limit names{"exchange_names", 65536, "names of barriers, gathers and file lists", "use the same names again"};
  Limit waiting_keys;
  Limit exports{"open_exports", 256, "exports of rows", "finish some first; one that is idle ends after a minute"};
  Limit observers{"observers", 256, "observers", "let some stop; one that is silent for 60 s is forgotten when others come"};
  Limit followers{"followers", 16, "followers", "let some stop; one that is silent for 30 s is forgotten when others come"};
  Limit held_answers;  // replicas=1
  Limit answer;

  std::array<const Limit*, 12> all() const {
    return {&parked_calls, &parked_bytes, &unread_mail, &gatherings, &gathering_bytes, &names,
            &waiting_keys, &exports,      &observers,   &followers,  &held_answers,    &answer};
  }
};

}  // namespace argosy::ps
