#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace argosy::rpc {

// The first bytes of a TCP connection, before TLS and HTTP/2: an HTTP CONNECT request, which gRPC's clients can send by
// themselves (as to a proxy), with a pass that only those can make who know the job's token. A server reads no more of a
// connection than this until it has seen the pass.
//
// The pass crosses the network in clear text, with TLS too. It opens the door and nothing else: every stream shows the token
// itself, inside TLS. It is the same for every connection of a job, so that it can be repeated by somebody who has seen it, and
// cannot be turned back into the token by less than trying all tokens.

// Hexadecimal digits; empty for an empty token. Takes milliseconds: once per channel or server.
std::string door_pass(const std::string& token);

inline constexpr size_t kLongestGreeting = 1024;
inline constexpr const char* kGreetedServer = "argosy";  // what the CONNECT request names

// The headers that a client with this pass adds to its request, as gRPC wants them; may be empty.
std::string greeting_headers(std::string_view pass);

enum class Greeting {
  incomplete,  // so far it may become one
  good,
  wrong_pass,  // or none
  malformed,   // or longer than one may be, or with something behind it
};
// What a connection has said so far, to a server with this pass. Without one every greeting is good.
Greeting judge_greeting(std::string_view said, std::string_view pass);

// What the server answers.
inline constexpr std::string_view kWelcome = "HTTP/1.1 200 OK\r\n\r\n";
inline constexpr std::string_view kWrongPass = "HTTP/1.1 401 Unauthorized\r\n\r\n";
inline constexpr std::string_view kNoRoom = "HTTP/1.1 503 Service Unavailable\r\n\r\n";
// How gRPC's client words an answer of the second kind.
inline constexpr std::string_view kWrongPassError = "response code 401";

}  // namespace argosy::rpc
