#include "vector_ops_lanes.hpp"

namespace cgens {

const VectorOps kBaselineOps = {
    "baseline",
    dot_lanes<std::int8_t>,
    dot_lanes<float>,
    dot_lanes<double>,
    add_lanes<std::int8_t>,
    add_lanes<float>,
    add_lanes<double>,
    step_prices_lanes,
    cosines_lanes,
};

}  // namespace cgens
