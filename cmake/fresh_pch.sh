#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a compiler. A precompiled header that is made once more is taken away before: ccache takes an old one for something
# that the new one is made of, and knows none such; and as each that the compiler makes differs from others, all that
# includes it would be compiled anew, here and in every fresh clone.
for word; do
  case $word in
    *.gch) rm -f "$word" ;;
  esac
done
exec "$@"
