#include "core/validate/subject.hpp"

namespace onedim {

Result<Subject> make_subject(const Op& op, CallText text) {
  Subject subject{&op, std::move(text.call), std::move(text.domains), {}};
  Result<std::vector<OptionalOutput>> outputs = op.infer(subject.call);
  if (!outputs.ok()) return outputs.status();
  subject.outputs = *std::move(outputs);
  subject.domains.resize(subject.call.inputs.size());
  return subject;
}

}  // namespace onedim
