// SPDX-License-Identifier: Apache-2.0
// Nsight Systems' own report files (.nsys-rep, .qdrep). Their format is NVIDIA's secret: only `nsys` reads
// them, so they are exported through it, into a temporary folder, which is removed again. Where `nsys` is not
// on PATH, the error has the command to run elsewhere.
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kNsysReportImporter;

}  // namespace dladvisor
