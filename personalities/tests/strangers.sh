# strangers.sh NAME PROGRAM STRANGER: a task that is no rank sends into the contexts of a job; the job does not notice.
set -u
name=$1 program=$2 stranger=$3
folder=$(mktemp -d) || exit 2
job='' sender=''
# A test that fails leaves no ranks behind, which would be a fault of their own.
trap 'kill $job $sender 2>/dev/null; wait; rm -rf "$folder"' EXIT
fail() { echo "$name: $*"; exit 1; }
seed=$((RANDOM * 32768 + RANDOM))$$
# shellcheck source=personalities/tests/await.sh
. "$(dirname "$0")/await.sh"
# The ranks begin when the stranger has begun, so however slow each of them is, they meet.
"$PVM" run --quiet --as "$name" -n 3 "$program" "$seed" "${OPERATIONS:-6000}" 200 "$folder/go" >"$folder/out" 2>"$folder/err" </dev/null &
job=$!
await grep -q begun "$folder/out"
rank=$(pgrep -f "^[^ ]*$program $seed " | head -1)
variable=$(tr '\0' '\n' <"/proc/$rank/environ" | sed -n 's/^NEOPVM_JOB=//p')
[ -n "$variable" ] || fail "no job is found: $(cat "$folder/err")"
"$stranger" "$variable" "${SECONDS_EACH:-1}" >"$folder/stranger" 2>&1 &
sender=$!
has_begun_or_ended() { grep -q begun "$folder/stranger" || ! kill -0 "$sender" 2>/dev/null; }
await has_begun_or_ended
grep -q begun "$folder/stranger" || { wait "$sender"; fail "the stranger ended with $?: $(cat "$folder/stranger")"; }
touch "$folder/go"
wait "$sender" || fail "the stranger cannot send: $(cat "$folder/stranger")"
wait "$job"
status=$?
[ $status -eq 0 ] && grep -q '^ok' "$folder/out" || fail "a stranger is heard: status $status, $(cat "$folder/out" "$folder/err")"
echo "$name: a stranger's $(tail -n 1 "$folder/stranger") were dropped"
