#pragma once

#include <string>

namespace argosy::rpc {

// What a job's processes show each other. All of it may be empty: plain text, and everybody who reaches the port may call.
//
//   ca only                     a client checks the server against it
//   certificate, key            what this side shows; a server needs both for TLS, a client for mutual TLS
//   ca, certificate, key        on a server: mutual TLS, clients without a certificate of this authority are refused
//   token                       a secret of the job that every call carries, with TLS or without
//
// The first three are paths of PEM files.
struct Security {
  std::string ca;
  std::string certificate;
  std::string key;
  std::string token;

  bool tls() const { return !ca.empty() || !certificate.empty() || !key.empty(); }
};

}  // namespace argosy::rpc
