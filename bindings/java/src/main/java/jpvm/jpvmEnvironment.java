// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.neopvm.Code;
import org.neopvm.TaskInfo;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Incoming;

/**
 * This process as a task of the machine. A process is one task, however many environments it makes, and any thread may make
 * any call. Failures are {@link jpvmException}s. As a tag, -1 means any tag; as a task, null means any task.
 */
public class jpvmEnvironment {
    /** The result of {@link #pvm_parent} for a task that no other one has spawned. */
    public static final jpvmTaskId PvmNoParent = null;
    /** For {@link #pvm_notify}: when a task ends. */
    public static final int PvmTaskExit = 1;
    /** For {@link #pvm_notify}: when a host leaves. */
    public static final int PvmHostDelete = 2;

    /** The package in which classes without one are searched: the package of the class that made this. */
    private final String near;

    /** Enrols this process as a task. */
    public jpvmEnvironment() {
        this(null, false);
    }

    /** Enrols this process as a task with a name, which {@link #pvm_tasks} shows. */
    public jpvmEnvironment(String taskName) {
        this(taskName, false);
    }

    /** Enrols this process as a task. For a daemon ({@code true}) a machine is started if none runs on this host. */
    public jpvmEnvironment(boolean isDaemon) {
        this(null, isDaemon);
    }

    /** Enrols this process with a name, and starts a machine if it is a daemon and none runs on this host. */
    public jpvmEnvironment(boolean isDaemon, String taskName) {
        this(taskName, isDaemon);
    }

    /** Enrols this process with a name, and starts a machine if it is a daemon and none runs on this host. */
    public jpvmEnvironment(String taskName, boolean isDaemon) {
        near = StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).walk(frames -> frames
                .map(StackWalker.StackFrame::getDeclaringClass)
                .filter(type -> !jpvmEnvironment.class.isAssignableFrom(type))
                .findFirst().map(Class::getPackageName).orElse(""));
        Link.enrol(isDaemon);
        TaskNames.tell(taskName);
    }

    /** Returns the id of this task. */
    public jpvmTaskId pvm_mytid() {
        return Link.call(engine -> new jpvmTaskId(engine.tid()));
    }

    /** Returns the task that spawned this one, or {@link #PvmNoParent}. */
    public jpvmTaskId pvm_parent() {
        return Link.call(engine -> jpvmTaskId.of(engine.parent()));
    }

    /** Leaves the machine. */
    public void pvm_exit() {
        Link.leave();
    }

    /**
     * Starts {@code n} tasks of a class on hosts that the machine chooses, with the class path of this process. The name
     * may have a package; a name without one may also be a class of the package whose class made this environment.
     *
     * @param tids gets the ids of the tasks
     * @return the number of tasks that run
     */
    public int pvm_spawn(String className, int n, jpvmTaskId[] tids) {
        if (n < 0 || tids.length < n) {
            throw new jpvmException(Code.BAD_PARAM, "pvm_spawn of " + n + " tasks with room for " + tids.length);
        }
        if (n == 0) {
            return 0;
        }
        int[] started = Arrays.stream(Launch.spawn(className, near, n)).filter(tid -> tid > 0).toArray();
        for (int i = 0; i < started.length; i++) {
            tids[i] = new jpvmTaskId(started[i]);
        }
        return started.length;
    }

    /**
     * Requests a message with a tag for each of the first {@code n} tasks or hosts when it ends. It contains the id, for
     * {@link jpvmBuffer#upktid}. JPVM did not have this call.
     *
     * @param what {@link #PvmTaskExit} or {@link #PvmHostDelete}
     */
    public void pvm_notify(int what, int tag, int n, jpvmTaskId[] tids) {
        int[] numbers = Arrays.stream(tids, 0, n).mapToInt(jpvmTaskId::getPort).toArray();
        Link.call(engine -> {
            engine.notify(what, tag, Engine.CURRENT_CONTEXT, numbers, n);
            return null;
        });
    }

    // Messages

    /** Sends a buffer to a task, which may be this one. */
    public void pvm_send(jpvmBuffer buffer, jpvmTaskId tid, int tag) {
        buffer.send(tid.getPort(), tag, Engine.CURRENT_CONTEXT);
    }

    /** Sends a buffer to the first {@code n} of the tasks, of which one may be this one. */
    public void pvm_mcast(jpvmBuffer buffer, jpvmTaskId[] tids, int n, int tag) {
        int self = pvm_mytid().getPort();
        int[] all = Arrays.stream(tids, 0, n).mapToInt(jpvmTaskId::getPort).toArray();
        int[] others = IntStream.of(all).filter(tid -> tid != self).toArray();
        if (IntStream.of(others).distinct().count() == others.length && others.length > 0) {
            buffer.multicast(others, tag, Engine.CURRENT_CONTEXT);
        } else {
            send(buffer, others, tag);
        }
        // The machine's multicast passes the sender by; JPVM's does not.
        send(buffer, IntStream.of(all).filter(tid -> tid == self).toArray(), tag);
    }

    private static void send(jpvmBuffer buffer, int[] tids, int tag) {
        for (int tid : tids) {
            buffer.send(tid, tag, Engine.CURRENT_CONTEXT);
        }
    }

    /** Waits for a message of a task with a tag, and returns it. */
    public jpvmMessage pvm_recv(jpvmTaskId tid, int tag) {
        return Link.call(engine -> message(engine,
                engine.receive(number(tid), tag, Engine.CURRENT_CONTEXT, -1)));
    }

    /** Waits for a message of a task, and returns it. */
    public jpvmMessage pvm_recv(jpvmTaskId tid) {
        return pvm_recv(tid, Engine.ANY);
    }

    /** Waits for a message with a tag, and returns it. */
    public jpvmMessage pvm_recv(int tag) {
        return pvm_recv(null, tag);
    }

    /** Waits for a message, and returns it. */
    public jpvmMessage pvm_recv() {
        return pvm_recv(null, Engine.ANY);
    }

    /** Returns a message of a task with a tag that has arrived already, or null. */
    public jpvmMessage pvm_nrecv(jpvmTaskId tid, int tag) {
        return Link.call(engine -> message(engine, engine.poll(number(tid), tag, Engine.CURRENT_CONTEXT)));
    }

    /** Returns a message of a task that has arrived already, or null. */
    public jpvmMessage pvm_nrecv(jpvmTaskId tid) {
        return pvm_nrecv(tid, Engine.ANY);
    }

    /** Returns a message with a tag that has arrived already, or null. */
    public jpvmMessage pvm_nrecv(int tag) {
        return pvm_nrecv(null, tag);
    }

    /** Returns a message that has arrived already, or null. */
    public jpvmMessage pvm_nrecv() {
        return pvm_nrecv(null, Engine.ANY);
    }

    /** Returns true if a message of a task with a tag has arrived. The message is not taken. */
    public boolean pvm_probe(jpvmTaskId tid, int tag) {
        return Link.call(engine -> engine.probe(number(tid), tag, Engine.CURRENT_CONTEXT) != null);
    }

    /** Returns true if a message of a task has arrived. The message is not taken. */
    public boolean pvm_probe(jpvmTaskId tid) {
        return pvm_probe(tid, Engine.ANY);
    }

    /** Returns true if a message with a tag has arrived. The message is not taken. */
    public boolean pvm_probe(int tag) {
        return pvm_probe(null, tag);
    }

    /** Returns true if a message has arrived. The message is not taken. */
    public boolean pvm_probe() {
        return pvm_probe(null, Engine.ANY);
    }

    private static int number(jpvmTaskId tid) {
        return tid == null ? Engine.ANY : tid.getPort();
    }

    private static jpvmMessage message(Engine engine, Incoming message) {
        return message == null ? null : new jpvmMessage(message, engine.tid());
    }

    // Hosts

    /** Returns the hosts of the machine. */
    public jpvmConfiguration pvm_config() {
        return Link.call(engine -> new jpvmConfiguration(engine.hosts()));
    }

    /** Returns the tasks of the host that has the number {@code which} in a configuration. */
    public jpvmTaskStatus pvm_tasks(jpvmConfiguration configuration, int which) {
        if (which < 0 || which >= configuration.hostDaemonTids.length) {
            throw new jpvmException(Code.BAD_PARAM,
                    "pvm_tasks of host " + which + " of " + configuration.hostDaemonTids.length);
        }
        return Link.call(engine -> {
            List<TaskInfo> tasks = engine.tasks(configuration.hostDaemonTids[which].getPort());
            return new jpvmTaskStatus(configuration.hostNames[which],
                    tasks.stream().map(task -> TaskNames.of(engine, task)).toArray(String[]::new),
                    tasks.stream().map(task -> new jpvmTaskId(task.tid())).toArray(jpvmTaskId[]::new));
        });
    }

    /**
     * Adds hosts. A host that is in the machine already is no failure.
     *
     * @param daemonTids not used: a host is reached by its name. JPVM needed the ids of daemons that ran there already.
     */
    public void pvm_addhosts(int n, String[] names, jpvmTaskId[] daemonTids) {
        List<String> wanted = Arrays.asList(names).subList(0, n);
        int[] results = Link.call(engine -> engine.addHosts(wanted));
        for (int i = 0; i < n; i++) {
            if (results[i] < 0 && results[i] != Code.DUP_HOST.number()) {
                throw new jpvmException(Code.of(results[i]), "pvm_addhosts of " + wanted.get(i));
            }
        }
    }

    /** Ends the machine and all its tasks, this one included. */
    public void pvm_halt() {
        Link.call(engine -> {
            engine.halt();
            return null;
        });
    }

    /** Returns the path of the socket of this host's daemon. It exists while the daemon runs. */
    public static String pvm_daemon_file_name() {
        return org.neopvm.wire.Places.daemon().toString();
    }
}
