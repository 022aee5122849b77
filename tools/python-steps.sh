# What tools/python-test and tools/wheel begin with. Source it in sh, from the root of the checkout: $python is the interpreter and
# $version its version, or one line says what is missing, and the status is 2.
refuse() {
  echo "${0##*/}: $1" >&2
  exit 2
}

python=${PYTHON:-python3}
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
  refuse "there is no interpreter '$python'; PYTHON names one, as in PYTHON=python3.11"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || refuse "'$python' is version $version; the package needs 3.9 or later"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
  refuse "'$python' makes no virtual environments; install its module venv (on Debian: python3-venv)"
"$python" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
  refuse "'$python' has no header Python.h; install it (on Debian: python3-dev)"
compiler=${CXX:-c++}
command -v "${compiler%% *}" >/dev/null ||
  refuse "there is no compiler '$compiler'; install one (tools/install-packages --build) or name it in CXX"
# The compiler's cache knows the files of nanobind again in other checkouts: they lie below this one.
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
