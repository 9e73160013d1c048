#pragma once

// The commands of the program argosy-predict, which `argosy` starts for them: it has libtorch, and `argosy` has not.
namespace argosy::serve {

// `argosy serve …`: argv[0] is the program, the rest are the command's words. The status to end with.
int serve_command(int argc, char** argv);

// `argosy check-online …`.
int check_command(int argc, char** argv);

}  // namespace argosy::serve
