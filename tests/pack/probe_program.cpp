// The child's side of probing, alone: `probe_program probe-packs FILE...`.

#include <cstring>
#include <string>
#include <vector>

#include "core/pack/probe.hpp"

int main(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], "probe-packs") != 0) return 2;
  const std::vector<std::string> files(argv + 2, argv + argc);
  return onedim::probe_main(files);
}
