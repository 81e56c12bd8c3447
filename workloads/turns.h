#pragma once

#include <cstdio>

namespace nl {

// Several processes that are compared take turns (bench/overhead): each waits here until it is given the next line on
// standard input. False at its end.
inline bool next_turn() {
  int character = std::getchar();
  while (character != '\n' && character != EOF) character = std::getchar();
  return character == '\n';
}

}  // namespace nl
