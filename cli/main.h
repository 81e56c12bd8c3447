#pragma once

namespace nl::cli {

// The whole program. The only place that catches what verbs throw, and prints it.
int main(int argc, char** argv);

}  // namespace nl::cli
