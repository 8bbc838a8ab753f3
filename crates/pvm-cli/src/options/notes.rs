//! The notes that help and the man pages show behind the options. The fields of the JSON are an
//! interface: a field may come, none goes or changes its meaning.

/// `pvm`.
pub(crate) const PVM: &str = "\
Examples: `pvm run -n 4 ./program` runs four tasks; `pvm up` starts a machine, `pvm add lab2 lab3` \
makes it larger, `pvm run` then works on all of it, and `pvm halt` ends it.

Without a command, or with a host file: the console of PVM 3, on a terminal or with a script on \
standard input. `pvm [-nNAME] [HOSTFILE]` starts a daemon if none runs.

Exit status: 0 success; 1 the machine refused, or a part failed; 2 wrong use; 3 no machine is \
running; 4 a daemon could not be started or has ended; `pvm run` returns the status of the tasks.

--json prints one line with one object on standard output; the page of each command lists its \
fields. Errors are printed on standard error, too. If the output cannot be written (a full disk), \
the command fails. If standard output was closed before the command began (>&-), the command does \
not notice it, because it finds /dev/null in its place.

Environment: PVM_VMID chooses one of several machines, PVM_TMP the folder of the runtime files, \
and PVM_RSH the program that is used instead of ssh. NO_COLOR switches colours off.";

/// `pvm run`.
pub(crate) const RUN: &str = "\
The tasks have this command's directory and environment, and have no parent (pvm_parent returns \
PvmNoParent). Standard input goes to the first of them.

If no machine runs, the command starts one for this run alone: it ends with the run, and `pvm ps` \
and other commands do not find it. To look at the tasks while they run, start a machine with \
`pvm up` first.

Tasks that the tasks spawn belong to the run: their output appears here, too, with the task in \
front, unless it is caught (pvm_catchout). When the tasks have ended, these children have a second \
to end by themselves; then they are asked to end. The same holds for processes that a program has \
left in the background or that still hold its output; if they live on for 5 more seconds they are \
killed. A process with a session of its own (setsid) goes on without an output, unless the machine \
ends.

A signal such as that of Ctrl-C is passed on; tasks that live on are killed after 5 seconds, or at \
once by a second signal. Ctrl-Z stops the tasks, too, and they go on with pvm run. Signals that \
were ignored when it was started (nohup, a job of a script) stay ignored. No other process of the \
run outlives pvm run.

A slow reader of the output slows the tasks down: at most 16 MiB of output wait for it. A line of \
more than 1 MiB is broken, and so is the longest line if unfinished lines have more than 8 MiB \
together. If output cannot be written, such as to a full disk, the tasks are ended and the exit \
status is 1.

With --as NAME the tasks are the ranks 0 to N-1 of a job of another interface than PVM's, and this \
command is its keeper: it tells each rank the ids of the others, marks lines with ranks, gives \
standard input to rank 0, and ends all ranks within a second when one fails, is killed, or ends \
before it has made its interface's last call. An error then names that rank, its host and the \
reason. --hosts names the file of the interface's own system: for p4 a procgroup (`local N` first, \
then `host N path [login]`), for tcgmsg a NAME.p (`user host N path folder`), for all others lines \
`host [N]`, to which the N ranks of -n are assigned in turns. `#` begins a comment. Every host \
must be in the machine; otherwise nothing is started. Logins are ignored.

Exit status: the first of the tasks' that is not 0; 128 + N for a task ended by signal N; 126 and \
127 if the program cannot be executed or is not found; 1 if the machine refused; 4 if the daemon \
could not be started or went away.";

/// `pvm up`.
pub(crate) const UP: &str = "\
If a machine runs already, it is used, and only the missing hosts are added. The hosts of the host \
file are started at the same time, through ssh. If a host cannot be added, the cause and the next \
command are printed (see `pvm add`), and the other hosts are added. pvmd(1) describes host files.

JSON: started (whether a machine was started), address, version, added (the hosts of the file; \
fields as of `pvm add`), hosts (fields as of `pvm conf`).";

/// `pvm add`.
pub(crate) const ADD: &str = "\
ssh starts pvmd on the host, as the user's ~/.ssh/config says: configure users, ports, keys and \
jump hosts there. If PVM_RSH was set when the machine was started, it names the program that is \
used instead of ssh, with the same arguments. All hosts are started at the same time; no host \
waits for another one. On success nothing is printed (with -v a line for each host).

If a host cannot be added, the command prints the first stage that failed, the cause, and the \
command to try next. The stages are name (is the name known), route (is the host reachable), port \
(does an ssh server answer), key (does it accept the login), shell (is its output clean), pvmd (is \
it installed there), version (does it speak the same protocol), callback (does it reach this \
host), and join. `pvm doctor HOST` shows all of them.

JSON: hosts, a list in the order of the command line: host (as it was written), ok, tid, error \
(PVM's words), stage, detail, remedy. Fields that do not apply are null.";

/// `pvm del`.
pub(crate) const DEL: &str = "\
The tasks of a removed host end. With --drain they go on: the host gets no new tasks, and leaves \
when its last task has ended. Until then `pvm add` takes the host back.

JSON: hosts, a list in the order of the command line: host, ok, error, stage, detail, remedy.";

/// `pvm conf`.
pub(crate) const CONF: &str = "\
STATE is up, draining after `pvm del --drain`, or suspected while this host has lost its link to \
that host. A killed daemon is replaced in a moment; a dead host is removed. ADDRESS is the address \
that other daemons try first.

JSON: hosts: name, tid, arch, speed, cores, signature (the data format), addresses (in the order \
in which they are tried), version, draining, suspected.";

/// `pvm ps`.
pub(crate) const PS: &str = "\
PROGRAM is empty (-) for a task that the machine has not started. If a host's daemon does not \
answer, its name is printed on standard error at once; the list follows when the daemon answers or \
the host has been removed.

JSON: tasks: tid, host, pid, parent (null for none), flags (PVM's: 4 connected, 2 started by the \
machine, ...), program; suspected (the names of hosts that do not answer, if there are any).";

/// `pvm kill`.
pub(crate) const KILL: &str = "\
JSON: signal, tasks: tid, ok, error.";

/// `pvm names`.
pub(crate) const NAMES: &str = "\
JSON: names: name, entries: index, owner (null if the owner has ended), flags.";

/// `pvm groups`.
pub(crate) const GROUPS: &str = "\
JSON: groups: name, members (in the order of instance numbers; null for an unused number), waiting \
(the number of tasks at its barrier).";

/// `pvm status`.
pub(crate) const STATUS: &str = "\
JSON: version, host (its index), name, parent_pid, daemon_pid, address, bad_peers (the number of \
peers whose links were closed for invalid bytes), restarts (of the daemon), guard (how the kernel \
confines the daemon: landlock, seccomp, or none and the reason), order (the problem if no host \
leads the log of commands; empty if one does), folder (of the runtime files).";

/// `pvm token`.
pub(crate) const TOKEN: &str = "\
A token is for hosts that ssh cannot reach: batch systems, containers, computers in a cloud. On \
such a computer `pvmd --token-file FILE` (mode 0600, or - for standard input) makes it a host of \
the machine. The new daemon checks this machine's key before it sends the secret. A token is valid \
once, for one host, until it expires; five wrong secrets make it invalid. Do not put it into \
arguments or the environment, which others can read. The new host must be able to connect to this \
one.

JSON: token, seconds.";

/// `pvm upgrade`.
pub(crate) const UPGRADE: &str = "\
Install the new version first. On each host the program at the path from which the host was \
started (or FILE) replaces the daemon. Tasks go on, and their messages, their output and the \
machine's state are kept. If the new program cannot take over the state, or is not ready within 3 \
seconds, the old one runs again. Both must speak the same protocol (`pvm doctor HOST` shows it). \
The process that owns the tasks of a host is not replaced until the host ends.

JSON: hosts: host, ok, from, to (versions, null where unknown), error.";

/// `pvm halt`.
pub(crate) const HALT: &str = "\
The command returns when nothing of the machine is left on this computer, and prints what it has \
stopped. Processes that tasks have started end, too, even if their parents have ended; a process \
with PVM_OUTLIVE=1 in its environment goes on. If the daemon of this computer is stopped (SIGSTOP, \
or Ctrl-Z if pvmd was started by hand), it is continued first, and a message says so. If another \
command is halting the machine already, this one waits for its end.

Tuple servers and consoles are not counted as tasks.

JSON: hosts (their names), tasks (their ids).";

/// `pvm doctor`.
pub(crate) const DOCTOR: &str = "\
Without a host the command examines this computer: whether pvmd is installed and has the right \
version, the folder of the runtime files, the machines that run, leftovers, other implementations \
of PVM, ssh, and the computer's name. With hosts it goes through the stages of `pvm add` for each \
of them, without adding it; no machine has to run.

Exit status: 0 if nothing is wrong, 1 otherwise; warnings do not count.

JSON: without a host: ok, checks: check, state (ok, warning, failed), detail, remedy. With hosts: \
ok, hosts: host, ok, stages: stage, ok (null if it was not reached), detail, remedy.";

/// `pvm bench`.
pub(crate) const BENCH: &str = "\
Suites: echo (latency, bandwidth, alpha, beta, n-half for each route and encoding), linpack \
(linear equations of order 100 and 1000, and the latency in lost operations), two-nodes (round \
trips of nine sizes), primitives (exchange, broadcast, sum, ring, complete exchange on 2 to 32 \
tasks), applications (Gaussian elimination in three partitions and N-body, in Fortran, on 1 to 32 \
tasks; needs gfortran), java (messages of 1 to 64 MB between C and Java in each pairing, and a \
loop; needs a JDK of 17 or newer and neopvm.jar). They repeat the comparisons that users of the \
1990s chose systems by; the report prints their tables beside its own.

NeoPVM, PVM 3.4.6, Open MPI and MPICH are measured in turns, as far as they are installed; the \
report names the Debian packages of those that are not. Every run of a PVM program has a machine \
of its own, so a machine that is running is not touched. The programs are in \
PREFIX/share/neopvm/benchmarks/suites: copy them, change them, and measure with --sources. A \
program that crashes or hangs is named in the report with its last words, and the rest goes on.

nas is measured by itself and takes its time: the eight NAS Parallel Benchmarks, written anew in C \
and Fortran over pvm3.h and fpvm3.h (PREFIX/share/neopvm/benchmarks/nas; needs gfortran and make), \
on NeoPVM and on PVM 3.4.6, in classes S, W, A and B or in the shape of the thesis that compared \
PVM's versions by them. Each answer is compared with the official values, and what is not verified \
has no time. Nothing of NPB is delivered: build NPB 3.4-MPI yourself and name its folder bin with \
--peer; its programs run in turns with ours by mpirun, with its defaults and with tasks that yield \
while they wait (`mpirun --mca mpi_yield_when_idle 1`). A peer that prints nonsense or has no end \
is named, and the rest goes on.

With --hosts the tasks are spread over this host and those, which need the same programs under the \
same path (a shared folder), and ssh without a password.

`pvm bench script` lists further measurements, scripts of NeoPVM's source tree, and `pvm bench \
script NAME --sources TREE --out DIR` runs one.

--compare learns from the two runs how much rows differ that did not change, and tells what \
changed by more than that and by more than a tenth.

Files: report.html (opens without a network), figures.json (every single measurement), figures.csv \
(a line for each row).

Exit status: 5 if something could not be measured, though the rest was.";

/// `pvm trace`.
pub(crate) const TRACE: &str = "\
A trace tells what tasks did: each call of the library with its begin, length and result, messages \
with their numbers, waits, marks of the program. It does not hold the contents of messages. \
doc/trace.md describes the file, doc/traces.md how to read the pictures.

A trace that was not completed, or is still written, is read up to where it is sound; what is \
missing is told. Times of different hosts are corrected by what their recorders have answered when \
they were asked what their clocks show, or by the messages; --raw leaves them as they are.

Example: `pvm trace profile run.trace`; `pvm trace export run.trace --to perfetto -o run.pftrace`.";

/// `pvm trace record`.
pub(crate) const TRACE_RECORD: &str = "\
Tasks need no preparation. Each host of the machine gets a recorder, a process of low priority \
that reads the records of the tasks and ends a few seconds after the last recording. The recording \
ends with the tasks that were named, with `pvm trace stop`, or with the first interrupt (Ctrl-C); \
then the file is completed. All commands read an incomplete file, too. A full disk ends the \
recording, not the tasks.

Only its owner can read the file (mode 0600), and it does not hold the contents of messages. `pvm \
trace show` lists records that found no room, or were lost with a killed recorder, as gaps.

Example: `pvm trace record --all -o all.trace`; `pvm trace record t40002 -o one.trace`. `pvm run \
--trace FILE PROGRAM` records a program from its first call to its last.

JSON, at the end: output, records, lost, complete (false if the file could not be written).";

/// `pvm trace stop`.
pub(crate) const TRACE_STOP: &str = "\
Ends all recordings of `pvm trace record`, on whatever host they run; a recording of `pvm run \
--trace` ends with its program.

JSON: stopped (the number of recordings).";

/// `pvm trace show`.
pub(crate) const TRACE_SHOW: &str = "\
Times of records are seconds after the trace's begin.

BY says from what a host's clock is known: questions of the process that recorded to the host's \
recorder and their answers, or messages alone. CLOCK and DRIFT are against the reference.

JSON: complete, in_turns (recorded with `pvm run --alone`), records, begin, end (nanoseconds since \
1970), hosts (name, index, arch, version, cores, congestion, mtu, probe_cost_ns), clocks (host, \
source, offset_ns, drift_ppm, error_ns), tasks (index, tid, parent, program, host, pid, begin, \
end, status, noted, lost), gaps (host, task, from, to, lost, reason). With --events, the output is \
a line for each record, with one object: task, begin, length, thread, depth, function, what, \
result, name, value, done, total, peer, tag, context, number, bytes, encoding, way (memory, \
daemons, direct, own), wire_bytes, pieces, any_source, any_tag, asked_source, asked_tag, \
processor_ns, members, instance, root, count, children, step; fields that do not apply are left \
out.";

/// `pvm trace profile`.
pub(crate) const TRACE_PROFILE: &str = "\
A function's own time leaves out the calls within it and waiting. A wait for a message is split at \
the moment when its sender began to send: until then the message was not yet sent, afterwards it \
was on the way. The two parts sum exactly to the wait. Efficiency is the tasks' mean computing as \
a share of the run: balance (the mean as a share of the most) times transfer (the most as a share \
of the run).

JSON: begin, end, seconds, functions (name, calls, time_ns, own_ns, waiting_ns, longest_ns, \
messages, bytes), tasks (index, name, computing_ns, calls, call_ns, not_yet_sent_ns, \
on_the_way_ns, group_ns, other_ns, sent, sent_bytes, received, received_bytes), pairs (from, to, \
messages, bytes), own (messages, bytes), unmatched (sends, receives, apart, given_up), matched, \
efficiency (total, balance, transfer), path (seconds, running_ns, on_the_way_ns, messages, \
complete), damaged.";

/// `pvm trace export`.
pub(crate) const TRACE_EXPORT: &str = "\
perfetto and chrome have a track for each thread and an arrow for each message. csv has the names \
of its columns in the first line. PVM's tracers and XPVM read sddf; it has no receivers of a \
multicast. `smpirun -replay` takes ti, with computing as nanoseconds on hosts of 1 Gf; the command \
reports on standard error what ti cannot hold (groups on one host except for a barrier of all, \
first-come receives, polls). thesis makes a folder with results.X, oh.X, oh2.X, pk.X, pk2.X for \
each task, X being its tid, and station.N, the input of its simulator.

JSON: output, bytes (null for a folder).";

/// `pvm trace import`.
pub(crate) const TRACE_IMPORT: &str = "\
The times of the thesis's lines are added up; a receive takes place when its bytes have been sent, \
at the earliest. For a line that makes no sense, the error names its number.

JSON: output, bytes.";

/// `pvm trace draw`.
pub(crate) const TRACE_DRAW: &str = "\
aggregate has a pair of bars for each pair of tasks, dynamic two curves over time, spacetime a row \
for each task with what it did and a line for each message, functions a bar for each function. The \
picture is SVG, or PNG with two pixels for each point.

JSON: output, bytes.";

/// `pvm trace report`.
pub(crate) const TRACE_REPORT: &str = "\
The page has the tables of `pvm trace profile`, the pictures of `pvm trace draw`, and the machine \
of that time; the page needs no other file, no network and no script.

JSON: output, bytes.";

/// `pvm predict`.
pub(crate) const PREDICT: &str = "\
The trace is one of:

  a trace of NeoPVM (`pvm run --trace`, `pvm trace record`): each receive takes the message that \
it took, barriers and spawns are simulated, and the command reports what the trace lacks;
  a folder with the files station.0, station.1 ..., or those files: lines c, s, m, r (`pvm trace \
export --to thesis` makes them of a trace);
  SimGrid's time-independent trace, one file for all ranks or one for each (`pvm trace export --to \
ti`).

The network is a name of `pvm predict networks`, or a platform file in TOML: neopvm-platform(7). \
The seconds are those of the last task. SERVICE is the part of BLOCKED after the begin of the send \
that ended it, ALGORITHM the part before.

A trace of NeoPVM has the processor time at each sleep. So the time that other programs took from \
a task between two sleeps is subtracted (not with --wall), and so is the time that the records \
cost (not with --probes).

JSON: seconds, low and high (mean, least and most of the runs), collisions (their mean; null \
where frames cannot collide), events (that the network had to handle), lost (frames), resent \
(segments), put_off (looks that would find nothing where they found a message), stations \
(station, seconds, computing, calls, sending, receiving, blocked, service, algorithmic, phases, \
net, transport, messages, bytes, own_messages, own_bytes), sections (what neopvm_state names: \
name, seconds, median, low, high of the task that was in it longest; begin, end), path (task, \
seconds, computing, phases, messages: what led to the end), \
inputs \
(trace, form, network, model, depth, runs, actions, lacks, place, cores, computers, change, \
growth, times, probes, version). phases are late, host, queue, wire and retransmission, and sum up \
to blocked. \
The tables, and stations and path in JSON, are of the first run. One input gives one result, byte \
for byte.

Record with `pvm run --trace FILE --alone`: then the tasks of a host compute one after the other, \
and do not disturb one another in caches and memory.

With --tasks each TRACE is a recording of the program with another number of tasks, three at \
least. low and high are then runs whose computing is smaller and larger by the error with which \
the smaller recordings predict the largest one; inputs.growth has tasks (of the recordings), \
roles, left_out (messages), computing and bytes (the relative errors of that prediction). A \
program is refused if its messages follow no pattern, or not the same one in all recordings.

  pvm predict run-2.trace run-4.trace run-8.trace --tasks 16 --network tbf-100
  pvm predict generate ring --tasks 4 -o ring.ti
  pvm predict ring.ti --network switch-100
  pvm predict stations/ --network ethernet-10 --model thesis --seeds 10 --json";

/// `pvm predict what-if`.
pub(crate) const PREDICT_WHAT_IF: &str = "\
Without options the networks are Ethernet of 10 and of 100 Mb/s, with all and with a tenth of the \
time in calls. COMPUTING, CALLS and BLOCKED are means of all tasks. OF THE FIRST compares with the \
first row.

JSON: a list of network, speed, overhead, seconds, computing, calls, blocked, collisions (null \
where frames cannot collide).

  pvm predict what-if run.trace -o bars.svg
  pvm predict what-if run.trace --network switch-100,switch-1000 --speed 1,2,4 --overhead 1";

/// `pvm predict rehearse`.
pub(crate) const PREDICT_REHEARSE: &str = "\
Each task of the trace becomes a task of the running machine. It sends and takes messages of the \
recorded sizes in the recorded order, meets the others at barriers, and sleeps while the recorded \
task computed or was in other calls. So a program can be judged on many hosts that share one \
computer. All tasks begin together. A sleep that took too long makes the next one shorter; \
computing of less than 100 us is slept together with what follows.

Where the recorded program looked for a message and found it, a rehearsal waits for it. Messages \
are raw bytes; all go by direct routes, or all through the daemons (--routed). A trace that would \
stand still, or whose messages would fill more than 4 GiB before they are taken, is refused before \
any task is started.

JSON: seconds, tasks (task, seconds, slept), sections (name, seconds of the task that was in it \
longest).

  pvm predict rehearse run.trace
  pvm predict rehearse run.trace --on h1,h2 --json";

/// `pvm predict calibrate`.
pub(crate) const PREDICT_CALIBRATE: &str = "\
Tasks on the hosts measure messages of 1 byte to 1 MiB forth and back, by direct routes, through \
the daemons and through memory, raw and in default encoding; what the calls of a message take; a \
stream; a round in which all hosts send to all others; and the hosts' processors and memory. A \
line with breaks is fitted to each series; the intervals of 95 % are from samples that are drawn \
anew. The platform file is the one, with or without a token bucket, whose predictions of the \
measured messages are nearest; the second table shows these predictions. What was not measured, or \
found no time within --seconds, is named there and in the file. Without -o the file is printed \
behind the tables. Ctrl-C ends the measurement and keeps what there is.

The hosts should have nothing else to do: measure at the load at which the program is to run.

JSON: hosts, measuring (seconds), messages (route, encoding, sizes, lines), calls (route, sends, \
receives), streams (route, bytes, seconds, rate), exchange (seconds of a round: value, low, high; \
null if it was left out), pairs (host, seconds of a byte from the first host), processors (host, \
cores, step, memory_byte, memory_byte_together, record: seconds of a step of arithmetic, of a byte \
of 32 MiB alone and with all cores, of a record of a trace), model (name, bytes, seconds, \
predicted, error in percent), not_measured, platform (the file; null if too little was measured \
for one). A size has bytes, tries, seconds, low, high and off (how far its line is off, in \
percent); a line has from, to, latency and byte, each with value, low and high.

  pvm predict calibrate -o lab.toml --picture residuals.svg
  pvm predict calibrate h1 h2 --seconds 20 --json
  pvm predict run.trace --network lab.toml";

/// `pvm predict seal`.
pub(crate) const PREDICT_SEAL: &str = "\
The file is JSON: seal (1), sha256 (of the trace's files, and of the platform file if there is \
one), platform (all values of it), prediction (as `pvm predict --json` prints it). An existing \
file is not overwritten. The command prints the file's own hash: publish the hash, or commit the \
file, before the program runs on that network.";

/// `pvm predict score`.
pub(crate) const PREDICT_SCORE: &str = "\
The prediction is compared with the median of the runs. The median's interval of 95 % follows from \
the binomial distribution and needs six runs; with fewer runs it is from the least to the most. If \
the interval is wider than the goal on either side, the runs prove nothing, and the goal is \
neither met nor missed, unless the whole interval is farther away than the goal.

JSON: predicted, median, low, high, interval, runs (seconds), error and goal (percent), verdict \
(met, missed, open).

  pvm predict seal run.trace --network tbf-10 -o run.seal
  pvm predict score run.seal 1.02 1.04 1.01 1.05 1.02 1.03
  pvm predict score run.seal --section timed runs.jsonl";

/// `pvm predict networks`.
pub(crate) const PREDICT_NETWORKS: &str = "\
0 B is the time of a message without data on an idle network, 1 MB the rate of a message of a \
million bytes. The machines behind the Ethernets are those of table 1 of Message-Passing \
Performance of Various Computers (1997).

JSON: a list of name, about, seconds_0, seconds_1e6, half (bytes at which half the bandwidth is \
reached, as the table has it; null for others).";

/// `pvm predict check`.
pub(crate) const PREDICT_CHECK: &str = "\
The command reads every line, and every receive must have a send. The exit status is 1 if \
something is wrong.

JSON: form, actions, seconds (on a network that costs nothing), lacks (sentences), tasks (task, \
computing, messages, bytes, own_messages, receives).";

/// `pvm predict generate`.
pub(crate) const PREDICT_GENERATE: &str = "\
In each round a task computes, sends its messages, and receives the messages that are sent to it.";

/// `pvm space`.
pub(crate) const SPACE: &str = "\
A tuple space holds rows of typed fields. Programs put rows with `pvm out` or the calls of \
neotuple.h, and take them by templates. doc/tuples.md says what a space guarantees. The commands \
start a tuple server on this host if a space is made and there is none.";

/// `pvm space create`.
pub(crate) const SPACE_CREATE: &str = "\
The space lives until it is deleted or the machine halts. Its tuples are in the memory of tuple \
servers (pvmtuples): one on this host and, with --copies, one or two on other hosts, which are \
started there. When a server or its host dies, a copy takes over, and another copy is made if \
there is a host for it. A space without copies loses its tuples then. The command returns when the \
copies are ready, or when there is no other host; a host that joins later gets a missing copy. \
Each tuple counts its bytes and 128 more against the limit. When hosts join, spaces move to them, \
until all hosts have about equally many.

With --full spill, tuples beyond the limit are kept in files of the server (in PVM_SPILL_DIR, or \
else in the folder for the files of messages), and are taken from there like all others; if the \
files have no room either, puts fail. With --sync-every an operation is answered when the \
operating system has it: a power failure may take the operations of the last SECONDS, and no other \
failure does.

With --durable each server writes every operation to a file in DIR, NAME.HOST.tuples, and answers \
when the operation is on the disk. After a halt, or when all servers have died, the same command \
makes the space again from the file in DIR on this host: no operation that was answered is \
missing, claimed tuples are free, and no client waits. If a part of the file is damaged, the part \
before the damage is used, a message names the rest, and a copy of the file is kept. Deleting the \
space removes the files.

JSON: name, created (true), note (what was damaged, or null).";

/// `pvm space dump`.
pub(crate) const SPACE_DUMP: &str = "\
Each line is a tuple: a JSON list of its fields (type, value). Claimed tuples are among them. \
With more than 16 MiB of tuples, or 1000 claimed ones, nothing is written, and the command fails. \
`pvm space load` puts them again.

JSON: name, tuples.";

/// `pvm space load`.
pub(crate) const SPACE_LOAD: &str = "\
The command reads the output of `pvm space dump`, with or without --json. It stops at the first \
tuple that cannot be put, and prints the reason and the number of tuples that it has put.

JSON: name, loaded (the number of tuples).";

/// `pvm space list`.
pub(crate) const SPACE_LIST: &str = "\
A space whose server has died is lost: `pvm space delete` forgets it.

JSON: spaces: name, server, copies, copies_wanted, owner (the task with which the space ends, or \
null), tuples, claimed, waiting, bytes, spilled (bytes of those in files; all \
null for a space that is lost), limit, full (block, spill or error), fail_when_full, lost, durable \
(the directory on each of its hosts, or null), sync_every (the loss window in seconds, or null).";

/// `pvm space show`.
pub(crate) const SPACE_SHOW: &str = "\
JSON: name, count (of tuples), bytes, tuples (the oldest; each is a list of fields: type, value), \
claimed: task, tuple, tries (the number of times that it came back before), seconds.";

/// `pvm space why`.
pub(crate) const SPACE_WHY: &str = "\
A tuple nearly fits if its first field is the same text as in the template, but its types or its \
number of fields differ. At most 1000 tasks are listed, in the order in which they are served.

JSON: name, waiting: task, operation (in, rd, claim, or out for a space that is full), tuple (a \
list of fields: type, value, or formal), seconds, near (tuples).";

/// `pvm space delete`.
pub(crate) const SPACE_DELETE: &str = "\
Clients that wait in the space get the error that there is no such space.

JSON: name, deleted (true).";

/// `pvm out`.
pub(crate) const OUT: &str = "\
A FIELD is a number (7 is an int, or a long if it is too large for one; 2.5 a double) or a text. \
TYPE:VALUE names its type: char schar uchar short ushort int uint long ulong longlong ulonglong \
float double bool text, and bytes or struct with hexadecimal digits. TYPE[]:V,V,... is an array.

Exit status: 0; 1 if the space stayed full until the timeout.

JSON: put (true or false).";

/// `pvm take`.
pub(crate) const TAKE: &str = "\
FIELDs are as of `pvm out`; ?TYPE or ?TYPE[] fits any value of that type (?struct:SIZE any struct \
of that size). Of several tuples that fit the oldest is taken. The values are printed on one line \
with tabs between them, arrays with commas.

  pvm out work task 5 'double[]:1.5,2.5'
  pvm take work task '?int' '?double[]'

Exit status: 0; 1 if nothing fitted until the timeout.

JSON: tuple (a list of fields: type, value), or null.";

/// `pvm read`.
pub(crate) const READ: &str = "\
As `pvm take`, but the tuple stays.

Exit status: 0; 1 if nothing fitted until the timeout.

JSON: tuple (a list of fields: type, value), or null.";
