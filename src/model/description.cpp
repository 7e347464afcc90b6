// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What a model is read from: of the files that are there, the one that says most.
#include "usmp/model/description.hpp"

namespace usmp::model {

Source source_of(const Description& model) {
  if (!model.tflite_member.empty()) return Source::tflite;
  return model.tir_member.empty() && !model.c_members.empty() ? Source::c : Source::tir;
}

}  // namespace usmp::model
