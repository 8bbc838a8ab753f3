# A list of nodes with one twice ends the job with the call and the place.
timeout 100 "$PVM" run --quiet --as express -n 2 "$BUILT/twice" >out 2>err
status=$?
[ $status -eq 1 ] && grep -q 'excombine: place 2 of the list of 3 nodes' err && exit 0
echo "ended with $status: $(cat err)"
exit 1
