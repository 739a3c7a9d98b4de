# SPDX-License-Identifier: Apache-2.0
"""Reading ONNX files: a table of operators (`_rows` and its neighbours) over the nodes of a file (`import_onnx`)."""
