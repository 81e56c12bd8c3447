#include "cli/command_line.h"

int main(int argc, char** argv) { return nl::cli::main(argc, argv); }
