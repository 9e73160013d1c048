#pragma once

namespace argosy::rpc {

// The name under which every call travels; the method proper is in the frame.
inline constexpr const char* kCallName = "/argosy/call";

// For large messages: few large HTTP/2 frames, large reads, and a window that does not stop the sender within a message.
// Measured with rpc_bench; gRPC's defaults carry half as much.
inline constexpr int kHttpFrameBytes = (1 << 24) - 1;
inline constexpr int kStreamWindowBytes = 1 << 26;
inline constexpr int kReadChunkBytes = 1 << 20;
inline constexpr int kLargestReadChunkBytes = 1 << 22;
// A server's first read of a connection; later ones grow with what comes. A megabyte of a stranger's bytes is ten thousand
// streams.
inline constexpr int kFirstReadBytes = 1 << 12;

// A peer whose machine is gone, which no packet tells, is found out by pings.
inline constexpr int kPingEveryMs = 20'000;
inline constexpr int kPingTimeoutMs = 20'000;

// A peer's host is looked up again when its connection is lost, at most so often: it may have come back at another address.
inline constexpr int kResolveEveryMs = 500;

// A server closes a connection on which no stream has been open for so long; clients open another when they need one.
inline constexpr int kIdleMs = 30'000;

}  // namespace argosy::rpc
