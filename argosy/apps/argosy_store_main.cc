// Hosts or joins the c10d store in which the launchers of a job of several nodes meet: `argosy-store`, started by fleetrun, which
// has no torch in it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "argosy/base/address.h"
#include "argosy/collective/store_keeper.h"

namespace {

using argosy::Address;
using argosy::Fd;
using argosy::LineSocket;
using argosy::Status;
using argosy::collective::StoreKeeperOptions;

constexpr const char* kHelp =
    R"(Keeps the c10d store in which the launchers of a job of several nodes meet. fleetrun starts it; there is
no need to start it by hand. It carries lines between its standard input, a socket of the launcher's, and the
store, and ends when that is closed.)";

// Longer than any call of the store that goes well. One that does not return (the first node's network is gone) ends this
// process by the signal; a launcher that is still there notices.
constexpr unsigned kCallSeconds = 20;

struct Arguments {
  std::string host, join, greeting;
  int listener = -1;
  double seconds = 30;
};

Status run(const Arguments& arguments) {
  LineSocket launcher{Fd(STDIN_FILENO)};
  ASSIGN_OR_RETURN(Address address, Address::parse_with_port(arguments.host.empty() ? arguments.join : arguments.host));
  StoreKeeperOptions options{.address = std::move(address),
                             .listener = Fd(arguments.listener),
                             .greeting = arguments.greeting,
                             .seconds = arguments.seconds};
  ::alarm(static_cast<unsigned>(arguments.seconds) + kCallSeconds);
  return keep_store(launcher, std::move(options), [] { ::alarm(kCallSeconds); });
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{kHelp, "argosy-store"};
  auto* host = app.add_option("--host", arguments.host, "Host the store at this address, host:port");
  app.add_option("--listener", arguments.listener, "The number of the open socket that listens there")->needs(host);
  app.add_option("--greeting", arguments.greeting, "What is said to those who come")->needs(host);
  auto* join = app.add_option("--join", arguments.join, "Join the store at this address, host:port")->excludes(host);
  app.add_option("--seconds", arguments.seconds, "How long to wait for the store and its greeting")->needs(join);
  CLI11_PARSE(app, argc, argv);
  if (arguments.host.empty() == arguments.join.empty() || (!arguments.host.empty() && arguments.listener < 0)) {
    std::fprintf(stderr, "argosy-store: needs --host with --listener, or --join; fleetrun starts it with them\n");
    return 2;
  }
  return run(arguments).ok() ? 0 : 1;
}
