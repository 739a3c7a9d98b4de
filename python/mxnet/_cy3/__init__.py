# SPDX-License-Identifier: Apache-2.0
"""The names under which the native binding has always been known."""
