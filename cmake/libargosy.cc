// CMake asks a library for a source; all of libargosy.so comes from the rooms.
