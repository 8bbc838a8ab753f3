#!/bin/bash
# What clc takes beyond the C compiler: clc.sh CLC, for a program of 5000 lines with 500 operations.
#
# In turns, ROUNDS (5) of each: clc and the compiler behind it, and that compiler alone with the C that clc has written.
# The difference has the preprocessor's second run in it. Medians, in seconds and in seconds of the processor.
set -eu
clc=$(realpath "$1")
rounds=${ROUNDS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# A function of 50 lines with five operations.
function_of() { # NUMBER
  cat <<END
static double work_$1(int id, double limit)
{
    double v[16], w[16], sum = 0;
    int i, n = 0, task;
    char name[32];
    out("task", $1, v:16);
    in("task", ?task, ?v:n);
    rd("limit", id, ?sum);
    if (inp("name", ?name) && !rdp("stop", id))
        out("result", id, sum * 2, w:);
END
  for ((line = 11; line < 49; line++)); do
    echo "    for (i = 0; i < 16; i++) sum += v[i] * w[(i + $line) % 16] - limit / (task + $line);"
  done
  printf '    return sum;\n}\n'
}

{
  printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <math.h>\n'
  for ((number = 0; number < 99; number++)); do function_of "$number"; done
  printf 'int real_main(int argc, char **argv)\n{\n    (void)argv;\n'
  for ((number = 0; number < 40; number++)); do echo "    eval(\"w\", work_$number(argc, 1.5));"; done
  printf '    return 0;\n}\n'
} >big.cl
"$clc" -E big.cl -o big.i

TIMEFORMAT='%R %U %S'
measure() { # NAME COMMAND...
  local name=$1 taken
  shift
  taken=$( { time "$@" >/dev/null; } 2>&1)
  echo "$name $taken" | awk '{ print $1, $2, $3 + $4 }' >>times
}
for ((round = 0; round < rounds; round++)); do
  measure clc "$clc" -c -o /dev/null big.cl
  measure compiler "${CC:-cc}" -c -o /dev/null big.i
done
median() { # NAME COLUMN
  grep "^$1 " times | awk -v c="$2" '{ print $c }' | sort -n | sed -n "$((rounds / 2 + 1))p"
}
echo "lines $(wc -l <big.cl)"
for column in 2 3; do
  whole=$(median clc $column) compiler=$(median compiler $column)
  echo "$([ $column = 2 ] && echo seconds || echo processor) clc $whole compiler $compiler" \
    "beyond $(awk -v a="$whole" -v b="$compiler" 'BEGIN { printf "%.3f", a - b }')"
done
