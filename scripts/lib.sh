# SPDX-License-Identifier: Apache-2.0
# Shared by the programs in this folder: where the repository is, the virtual environment, and how to speak. Sourced.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
VENV=$ROOT/.venv
JOBS=${JOBS:-$(nproc)}
export CMAKE_BUILD_PARALLEL_LEVEL=$JOBS

if [ -t 1 ]; then BOLD=$'\e[1m' RED=$'\e[31m' PLAIN=$'\e[0m'; else BOLD= RED= PLAIN=; fi
say() { printf '%s== %s%s\n' "$BOLD" "$*" "$PLAIN"; }
die() {
  printf '%s%s%s\n' "$RED" "$*" "$PLAIN" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# retry COMMAND...: downloads fail now and then; three tries, with a pause that grows.
retry() {
  local try
  for try in 1 2 3; do
    "$@" && return 0
    [ "$try" = 3 ] || sleep $((try * 5))
  done
  return 1
}

# Programs that scripts/setup put into the virtual environment go first.
use_venv() {
  if [ -d "$VENV/bin" ]; then
    export VIRTUAL_ENV=$VENV PATH=$VENV/bin:$PATH
  fi
}

# build PRESET [cmake --build arguments...]: configures when that has not been done, then builds.
build() {
  local preset=$1
  shift
  [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset"
  cmake --build "build/$preset" "$@"
}

# The test files that reach operators through the C ABI, as opposed to the package; those of the ABI's own functions are
# not among them. Paths from the root of the repository.
operator_test_files() (
  shopt -s globstar nullglob
  printf '%s\n' tests/python/**/{test_golden,test_ops_}*.py tests/python/**/test_linalg.py
)
c_api_test_files() (
  shopt -s globstar nullglob
  printf '%s\n' tests/python/**/test_c_api_*.py
)

# brought_libraries OBJECT: reads what ldd says of it; prints name and path of each library that a machine that runs Python
# may lack, or have of its own version: all but glibc's and the compiler's run time, which must not be twice in a process.
brought_libraries() {
  local named lost
  named=$(cat)
  lost=$(awk '/=> not found/ {print $1}' <<<"$named")
  [ -z "$lost" ] || die "given $1, which needs ${lost//$'\n'/ }, expected libraries that the loader finds"
  awk '$2 == "=>" && $3 ~ /^\// {print $1, $3}' <<<"$named" |
    grep -vE '^(ld-linux[^ ]*|lib(c|m|mvec|dl|rt|pthread|resolv|util|anl|stdc\+\+|gcc_s))\.so' || true
}
