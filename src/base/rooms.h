// The public headers keep what callers need not see in edgewire::detail. This file gives its names to the
// rooms that they come from.
#pragma once

namespace edgewire {

namespace detail {}
namespace topology {
using namespace detail;
}
namespace plan {
using namespace detail;
}
namespace tiles {
using namespace detail;
}
namespace exchange {
using namespace detail;
}
namespace engine {
using namespace detail;
}

}  // namespace edgewire
