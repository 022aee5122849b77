# Steps of a run of checks, for .ci/run and tools/test-all. A run goes on after a failed step, so that one run tells all.
# The last line is `N passed, N failed, N skipped`, the sum over all steps; the exit status is 1 when any failed.
# Where `strict` is set, a skipped test is a failed one, unless the machine cannot have what it needs or another step runs it.
# Source it in bash, from the root of the checkout.
passed=0 failed=0 skipped=0 unstable=0 started=0 strict=
took=() could_not_run=()
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# One set of flags, and paths that do not depend on where the checkout lies: builds share the compiler's cache.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# Says what begins; the time of the step before is kept for the end.
title() {
  end_step
  name_of_step=$1 started=$SECONDS
  printf '\n== %s (after %d s)\n' "$1" "$SECONDS"
}
end_step() {
  [ -z "${name_of_step-}" ] || took+=("$(printf '%5d s  %s' $((SECONDS - started)) "$name_of_step")")
  name_of_step=
}

# A step that passes or fails as a whole.
step() {
  local name=$1
  shift
  title "$name"
  if "$@"; then
    passed=$((passed + 1))
  else
    echo "FAILED  $name: $*"
    failed=$((failed + 1))
    return 1
  fi
}

# A step whose last line counts test cases.
count() {
  local name=$1 status counts
  shift
  title "$name"
  "$@" 2>&1 | tee "$logs/count"
  status=${PIPESTATUS[0]}
  counts=$(tail -n 1 "$logs/count")
  unstable=$((unstable + $(grep -c '^unstable: ' "$logs/count")))
  if [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    skipped=$((skipped + BASH_REMATCH[3]))
    [ "$status" = 0 ] || [ "${BASH_REMATCH[2]}" != 0 ] || failed=$((failed + 1))
    [ -z "$strict" ] || judge_skips "${BASH_REMATCH[3]}"
  else
    echo "FAILED  $name: exit status $status, no count of tests"
    failed=$((failed + 1))
  fi
}

# Of so many skipped tests, those fail for which a line of the step does not say that the machine cannot have what they need (could not
# run N: WHY), or that another step runs them (elsewhere N: WHY).
judge_skips() {
  local line stand=0
  while read -r line; do
    [[ $line =~ ^(could\ not\ run|elsewhere)\ ([0-9]+):\ (.*) ]] || continue
    stand=$((stand + BASH_REMATCH[2]))
    [ "${BASH_REMATCH[1]}" = elsewhere ] || could_not_run+=("${BASH_REMATCH[2]}: ${BASH_REMATCH[3]}")
  done <"$logs/count"
  [ "$1" -gt $stand ] || return 0
  echo "FAILED  $name_of_step: $(($1 - stand)) tests were skipped that should have run here"
  failed=$((failed + $1 - stand)) skipped=$((skipped - $1 + stand))
}

# Runs a piece, and notes in the ledger (tools/last-green) that it has passed: piece NAME SEED COMMAND...
piece() {
  local name=$1 seed=$2 before=$failed already=$passed start=$SECONDS lacks=${#could_not_run[@]} reason
  shift 2
  "$@"
  if [ $failed = $before ] && [ $passed -gt $already ]; then
    local words=()
    for reason in "${could_not_run[@]:$lacks}"; do words+=(--could-not-run "$reason"); done
    tools/last-green --write "$name" --passed $((passed - already)) --seconds $((SECONDS - start)) --seed "$seed" "${words[@]}"
  fi
}

# Sets up (or keeps) a build folder and builds: build_in FOLDER "OPTION..." [TARGET...]. The compiler's warnings are in
# $logs/build.
build_in() {
  local folder=$1 options=$2
  shift 2
  # shellcheck disable=SC2086  # a list of words
  { [ -f "$folder/build.ninja" ] || meson setup "$folder" $options >"$logs/setup" 2>&1 || { cat "$logs/setup"; return 1; }; } &&
    { ninja -C "$folder" "$@" >"$logs/build" 2>&1 || { grep -v '^\[' "$logs/build"; return 1; }; }
}
# The same; warnings are errors. Not by a compiler's option: the cache would not know the commands of other builds.
build_without_warnings() {
  build_in "$@" || return 1
  ! grep -B 3 -A 12 'warning: ' "$logs/build"
}

finish() {
  end_step
  printf '\n== times (%d s in all)\n' "$SECONDS"
  printf '%s\n' "${took[@]}"
  [ $unstable = 0 ] || echo "$unstable unstable: a test that passes only when it is repeated is mended before anything new is begun"
  [ ${#could_not_run[@]} = 0 ] || printf 'this machine cannot run %s\n' "${could_not_run[@]}"
  printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
  [ $failed = 0 ]
  exit
}
