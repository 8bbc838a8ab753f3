#!/bin/bash
# Measures NeoPVM, and beside it the original where it is installed: run.sh PREFIX OUT
#
# The systems take turns, round after round, so that a busy moment of the computer hits both; what is printed is the
# median over the rounds. Every single measurement is kept in OUT/*.jsonl. ROUNDS and SECONDS_EACH (per case)
# may be set. SYSTEMS="ours original", PARTS="messages spawn" and CROWDS="64 400 1000" choose.
set -u
prefix=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
rounds=${ROUNDS:-3} seconds=${SECONDS_EACH:-0.5}
mkdir -p "$out/ours" "$out/original"

if [ -e /usr/bin/pvmd ] && [ -e /usr/include/pvm3.h ]; then
  systems=${SYSTEMS:-ours original}
else
  systems=ours
  echo "the original is not installed (Debian packages pvm pvm-dev): nothing to compare with"
fi

compile() {
  local system=$1 source=$2 program=$out/$1/$(basename "$2" .c)
  if [ "$system" = ours ]; then
    ${CC:-cc} -O2 -I"$prefix/include" -o "$program" "$source" -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lpvm3
  else
    ${CC:-cc} -O2 -o "$program" "$source" -lpvm3
  fi || exit 1
}

# inside SYSTEM PROGRAM ARGUMENT...: runs the program in a machine of its own and prints what it prints.
inside() (
  local system=$1 program=$2
  shift 2
  # shellcheck source=../conformance/machine.sh
  . "$here/../conformance/machine.sh"
  machine_init "$system" "$prefix"
  trap machine_end EXIT
  machine_start || exit 1
  machine_run 120 "$program" "$@" 2>"$out/$system/errors"
) 2>/dev/null

encodings="raw default inplace"
sizes="8 1000000"
# The original daemon ends with 1000 tasks at once: its descriptors are more than select() takes. 400 are well below.
crowds=${CROWDS:-64 400 1000}

messages() {
  local round system encoding bytes line
  : >"$out/messages.jsonl"
  for ((round = 1; round <= rounds; round++)); do
    for bytes in $sizes; do for encoding in $encodings; do for system in $systems; do
      line=$(inside "$system" "$out/$system/pingpong" -b "$bytes" -e "$encoding" -t "$seconds") ||
        line="$encoding	$bytes	0	nan	nan	nan"
      # shellcheck disable=SC2086
      set -- $line
      printf '{"system":"%s","encoding":"%s","bytes":%s,"round_trips":%s,"one_way_us":%s,"best_us":%s,"gb_per_s":%s}\n' \
        "$system" "$1" "$2" "$3" "${4/nan/null}" "${5/nan/null}" "${6/nan/null}" >>"$out/messages.jsonl"
      echo "$system $1 $2 $4"
    done; done; done
  done >"$out/messages.txt"
  echo
  echo "one message, one way, between two tasks of this host (median of $rounds rounds)"
  awk '
    { key = $2 " " $3; if (!(key in seen)) { order[++keys] = key; seen[key] = 1 }
      n[$1, key]++; v[$1, key, n[$1, key]] = $4 }
    function median(s, k,   i, j, t, m, a) {
      m = n[s, k]; if (!m) return "none"
      for (i = 1; i <= m; i++) { if (v[s, k, i] == "nan") return "nan"; a[i] = v[s, k, i] + 0 }
      for (i = 1; i <= m; i++) for (j = i + 1; j <= m; j++) if (a[j] < a[i]) { t = a[i]; a[i] = a[j]; a[j] = t }
      return m % 2 ? a[(m + 1) / 2] : (a[m / 2] + a[m / 2 + 1]) / 2 }
    function cell(us, bytes) {
      if (us == "none") return sprintf("%10s %10s", "-", "-")
      return us == "nan" ? sprintf("%10s %10s", "failed", "-") : sprintf("%10.2f %10.3f", us, bytes / us / 1000) }
    END {
      printf "%-10s %9s | %21s | %21s | %s\n", "", "", "NeoPVM", "PVM 3.4.6", ""
      printf "%-10s %9s | %10s %10s | %10s %10s | %s\n", "ENCODING", "BYTES", "us", "GB/s", "us", "GB/s", "times faster"
      for (i = 1; i <= keys; i++) {
        split(order[i], part, " "); o = median("ours", order[i]); p = median("original", order[i])
        ratio = (o + 0 == 0 || p + 0 == 0) ? "" : sprintf("%.1f", p / o)
        printf "%-10s %9d | %s | %s | %s\n", part[1], part[2], cell(o, part[2]), cell(p, part[2]), ratio } }
  ' "$out/messages.txt"
}

spawn() {
  local round system tasks line
  : >"$out/spawn.jsonl"
  echo
  echo "many trivial tasks: started, one message each, ended"
  printf '%-10s %7s | %8s %8s %8s | %9s %9s %9s\n' SYSTEM TASKS started words notices start_s words_s all_s
  for ((round = 1; round <= rounds; round++)); do for tasks in $crowds; do for system in $systems; do
    line=$(inside "$system" "$out/$system/crowd" "$tasks")
    # shellcheck disable=SC2086
    set -- $line
    if [ $# -lt 7 ] || [ "$4" != "$1" ]; then
      printf '%-10s %7s | %s\n' "$system" "$tasks" failed
      continue
    fi
    printf '%-10s %7s | %8s %8s %8s | %9s %9s %9s\n' "$system" "$@"
    printf '{"system":"%s","tasks":%s,"started":%s,"words":%s,"notices":%s,"started_s":%s,"words_s":%s,"all_s":%s}\n' \
      "$system" "$@" >>"$out/spawn.jsonl"
  done; done; done
  spawn_ratios
}

# The medians of the last column, and ours by the original's.
spawn_ratios() {
  local tasks ours original
  echo
  for tasks in $crowds; do
    ours=$(spawn_median ours "$tasks") original=$(spawn_median original "$tasks")
    awk -v tasks="$tasks" -v ours="$ours" -v original="$original" 'BEGIN {
      printf "%s tasks, all_s, median: NeoPVM %s, PVM 3.4.6 %s", tasks, ours ? ours : "failed", original ? original : "failed"
      if (ours && original) printf ", ratio %.2f", ours / original
      print "" }'
  done
}

spawn_median() { # SYSTEM TASKS
  sed -n "s/.*\"system\":\"$1\",\"tasks\":$2,.*\"all_s\":\([0-9.]*\)}/\1/p" "$out/spawn.jsonl" | sort -n |
    awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] }'
}

for system in $systems; do
  compile "$system" "$here/messages/pingpong.c"
  compile "$system" "$here/spawn/crowd.c"
done
status=0
parts=${PARTS:-messages spawn}
: >"$out/messages.jsonl"
for part in $parts; do $part; done
grep -q '"system":"ours".*null' "$out/messages.jsonl" && status=1
echo
echo "every single measurement: $out/*.jsonl"
exit $status
