# strangers.sh NAME PROGRAM STRANGER: a task that is no rank sends into the contexts of a job; the job does not notice.
set -u
name=$1 program=$2 stranger=$3
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
fail() { echo "$name: $*"; exit 1; }
seed=$((RANDOM * 32768 + RANDOM))$$
"$PVM" run --quiet --as "$name" -n 3 "$program" "$seed" "${OPERATIONS:-6000}" 200 >"$folder/out" 2>"$folder/err" </dev/null &
job=$!
for tick in $(seq 3000); do
    ranks=$(pgrep -f "^[^ ]*$program $seed ")
    [ "$(echo "$ranks" | wc -l)" -ge 3 ] && break
    sleep 0.01
done
variable=$(tr '\0' '\n' <"/proc/$(echo "$ranks" | head -1)/environ" | sed -n 's/^NEOPVM_JOB=//p')
[ -n "$variable" ] || fail "no job is found: $(cat "$folder/err")"
"$stranger" "$variable" "${SECONDS_EACH:-1}" >"$folder/stranger" 2>&1 || fail "the stranger cannot send: $(cat "$folder/stranger")"
wait "$job"
status=$?
[ $status -eq 0 ] && grep -q '^ok' "$folder/out" || fail "a stranger is heard: status $status, $(cat "$folder/out" "$folder/err")"
echo "$name: a stranger's $(cat "$folder/stranger") were dropped"
