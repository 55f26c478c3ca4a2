#include "src/cli/cli.h"

namespace dladvisor {

int Main(int, char**) { return 0; }

}  // namespace dladvisor
