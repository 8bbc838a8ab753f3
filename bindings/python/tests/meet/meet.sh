#!/bin/sh
# meet.sh put READER... | take WRITER...: values of all types for programs in other languages, and theirs.
what=$1
shift

# one TYPE VALUE: a tuple for each reader, or those of each writer. A value is printed as it is typed.
one() {
  for other in $others; do
    if [ "$what" = put ]; then
      pvm out meet text:shell "text:$other" "text:$1" "$1:$2"
      continue
    fi
    formal="?$1"
    [ "$1" = struct ] && formal='?struct:8'
    pvm read meet "text:$other" text:shell "text:$1" "$1:$2" --timeout 0 >/dev/null || continue
    got=$(pvm take meet "text:$other" text:shell "text:$1" "$formal" --timeout 0) || continue
    [ "$got" = "$other	shell	$1	$2" ] && echo "$other $1"
  done
}

others=$*
one char 120
one schar -5
one uchar 200
one short -300
one ushort 60000
one int -70000
one uint 4000000000
one long -5000000000
one ulong 9000000000000000000
one longlong -6000000000
one ulonglong 17000000000
one float 0.5
one double 0.1
one longdouble 0000000000000080fe3f000000000000
one bool true
one floatcomplex 0000803f000000c0
one doublecomplex 000000000000e03f0000000000000840
one text words
one bytes 00ff10
one struct 3132333435363738
one 'short[]' 1,-2,3
one 'ushort[]' 1,60000
one 'int[]' 1,-2,3
one 'long[]' 1,-5000000000
one 'float[]' 0.5,1.5
one 'double[]' 0.1,2.5
exit 0
