// SPDX-License-Identifier: Apache-2.0
// Reads Jupyter notebooks (.ipynb), as Colab and Kaggle save them, and Kaggle's log of a run: what their
// cells printed is the log of a program, and is read as one.
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kNotebookImporter;

}  // namespace dladvisor
