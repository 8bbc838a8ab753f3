#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A worker in shell. It has no claims: a task that is taken is lost if this ends before its result.
pvm out bag ready
while task=$(pvm take bag task '?int') && number=${task#*	} && [ "$number" -ge 0 ]; do
  primes=$(awk -v end="$number" 'BEGIN {
    for (n = 2; n < end; n++) {
      for (d = 2; d * d <= n && n % d; d++);
      count += d * d > n
    }
    print count + 0
  }')
  pvm out bag result "$number" "$primes" text:shell
done
