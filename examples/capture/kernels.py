# SPDX-License-Identifier: Apache-2.0
"""A kernel of Triton, well and badly written."""

import triton
import triton.language as tl


@triton.jit
def scale_kernel(matrix, factors, result, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr, STRIDED: tl.constexpr):
    """A tile of the matrix. STRIDED: neighbouring threads have neighbouring rows."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    places = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    if STRIDED:
        offsets = places[:, None] + rows[None, :] * columns
        factor = tl.load(factors + places)[:, None]
    else:
        offsets = rows[:, None] * columns + places[None, :]
        factor = tl.load(factors + places)[None, :]
    tl.store(result + offsets, tl.load(matrix + offsets) * factor)


def scale_columns(matrix, factors, result, strided):
    rows, columns = matrix.shape
    tile = {"ROWS": 1024, "COLUMNS": 1} if strided else {"ROWS": 1, "COLUMNS": 1024}
    grid = (rows // tile["ROWS"], columns // tile["COLUMNS"])
    scale_kernel[grid](matrix, factors, result, columns, **tile, STRIDED=strided)
