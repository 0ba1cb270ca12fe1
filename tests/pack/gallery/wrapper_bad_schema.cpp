// A schema without its closing bracket, given to the wrapper, which reads schemas too.
#include <onedim/pack.hpp>

ONEDIM_PACK("wrapper_bad_schema", "1.0", [](auto& registrar) {
  registrar.op("wrapper_bad_schema.copy(Tensor self")
      .summary("a copy")
      .pointwise()
      .samples({"f32[4]"});
});
