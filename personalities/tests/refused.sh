# SPDX-License-Identifier: MIT OR Apache-2.0
# refused.sh NAME PROGRAM TABLE: each line of TABLE is `WHAT|TEXT`. The last of two ranks of `PROGRAM WHAT` makes one wrong
# call while the other one waits: the job ends with status 1 within seconds, and what is told is the rank, its host and
# TEXT, an extended regular expression for the call and the wrong value. PVM is the command.
set -u
name=$1 program=$2 table=$3
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failures=0 lines=0
while IFS='|' read -r what text; do
    case $what in '' | '#'*) continue ;; esac
    lines=$((lines + 1))
    timeout 100 "$PVM" run --quiet --as "$name" -n 2 "$program" "$what" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    [ $status -eq 1 ] && grep -Eq "rank 1 \(t[0-9a-f]* on [^)]*\) $text" "$folder/err" && continue
    echo "$name: $what: status $status, and not: $text"
    tail -n 3 "$folder/out" "$folder/err"
    failures=$((failures + 1))
done <"$table"
echo "$name: $lines wrong calls were told"
[ $failures -eq 0 ] && [ $lines -gt 0 ]
