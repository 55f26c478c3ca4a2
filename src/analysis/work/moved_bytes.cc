// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/work/moved_bytes.h"

namespace dladvisor {

WorkResult Moved(WorkKind kind, Count bytes, Literal data_type) {
  WorkResult result;
  Work& work = result.work.emplace();
  work.kind = kind;
  work.bytes = bytes.value();
  work.data_type = data_type;
  if (!work.bytes) work.bytes_unknown = why::kNoTypes;
  return result;
}

WorkResult MovedInto(WorkKind kind, Count bytes, Literal data_type, Count elements, int64_t element) {
  WorkResult result = Moved(kind, bytes, data_type);
  result.work->output_elements = elements.value();
  if (element > 0) result.work->output_bytes = (elements * element).value();
  return result;
}

std::vector<const Tensor*> TensorsOf(const Arguments& arguments) {
  std::vector<const Tensor*> tensors;
  for (const Argument& argument : arguments.all())
    if (!argument.is_list && argument.tensors.size() == 1) tensors.push_back(&argument.tensors.front());
  return tensors;
}

Count BytesOf(const std::vector<const Tensor*>& tensors) {
  Count bytes = 0;
  for (const Tensor* tensor : tensors) bytes = bytes + tensor->bytes();
  return bytes;
}

Literal TypeName(const Tensor& tensor) { return tensor.type ? tensor.type->name : Literal(); }

Formula Like(WorkKind kind, size_t like) {
  return [=](const CallOfOperator& call) {
    const Tensor* of = call.arguments.TensorAt(like);
    if (!of) return WorkResult::Unknown(why::kNoShapes);
    if (!of->type) return MovedInto(kind, Count::Unknown(), "", of->elements(), 0);
    const Count elements = of->elements();
    Count bytes = elements * of->type->bytes;
    for (const Argument& argument : call.arguments.all())
      if (!argument.is_list && argument.tensors.size() == 1) bytes = bytes + argument.tensors.front().bytes();
    return MovedInto(kind, bytes, of->type->name, elements, of->type->bytes);
  };
}

}  // namespace dladvisor
