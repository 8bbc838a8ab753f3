// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.neopvm.Code;
import org.neopvm.Encoding;
import org.neopvm.HostInfo;
import org.neopvm.MessageInfo;
import org.neopvm.TaskInfo;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Kind;
import org.neopvm.engine.Outgoing;
import org.neopvm.engine.Texts;
import pbj.PVMConstants;

/**
 * PVM's calls as static methods, without {@code pvm_} before their names: jPVM of Thurman (Georgia Tech). The names follow
 * a description of it; the arguments are our own definition, that of the C calls with arrays for what a call returns. As in
 * C there is one send buffer and one receive buffer, and a call that fails returns a negative number of {@link
 * PVMConstants}.
 */
public final class jPVM implements PVMConstants {
    private static Outgoing sending;
    private static Incoming received;

    private jPVM() {}

    /** A call of which the result is a number. */
    @FunctionalInterface
    private interface Call {
        int run(Engine engine) throws InterruptedException;
    }

    /** As in PVM, a process that has left is enrolled again. */
    private static int call(Call call) {
        try {
            Link.enrol(false);
            return Link.call(call::run);
        } catch (jpvmException e) {
            return e.code() == null ? PvmSysErr : e.code().number();
        } catch (IndexOutOfBoundsException | NullPointerException | ArithmeticException e) {
            return PvmBadParam;
        }
    }

    // This task and others

    /** Enrols this process and returns its id. */
    public static int mytid() {
        return call(Engine::tid);
    }

    /** Returns the id of the task that spawned this one, or PvmNoParent. */
    public static int parent() {
        return call(Engine::parent);
    }

    /** Leaves the machine. */
    public static int exit() {
        synchronized (jPVM.class) {
            sending = null;
            received = null;
        }
        Link.leave();
        return PvmOk;
    }

    /**
     * Starts tasks of a program.
     *
     * @param tids gets the ids of the tasks, then a negative number for each one that was not started
     * @return the number of tasks that run
     */
    public static int spawn(String program, String[] arguments, int flags, String where, int n, int[] tids) {
        return call(engine -> {
            if (tids.length < n) {
                return PvmBadParam;
            }
            List<String> list = arguments == null ? List.of() : List.of(arguments);
            int[] outcomes = engine.spawn(program, list, flags, where, n);
            System.arraycopy(outcomes, 0, tids, 0, n);
            return (int) Arrays.stream(outcomes).filter(tid -> tid > 0).count();
        });
    }

    /** Ends a task. */
    public static int kill(int tid) {
        return sendsig(tid, 15);
    }

    /** Sends a signal of the operating system to a task. */
    public static int sendsig(int tid, int signal) {
        return call(engine -> {
            engine.signal(tid, signal);
            return PvmOk;
        });
    }

    /** Returns PvmOk if a task exists. */
    public static int pstat(int tid) {
        return call(engine -> engine.tasks(tid).isEmpty() ? PvmNoTask : PvmOk);
    }

    /** Requests a message with a tag when one of {@code n} tasks or hosts ends, or {@code n} times when hosts come. */
    public static int notify(int what, int tag, int n, int[] tids) {
        return call(engine -> {
            engine.notify(what, tag, Engine.CURRENT_CONTEXT, what == PvmHostAdd ? null : Arrays.copyOf(tids, n), n);
            return PvmOk;
        });
    }

    /** Returns the tasks of a host, one task, or all tasks for 0; null if the machine cannot tell. */
    public static TaskInfo[] tasks(int where) {
        try {
            return Link.call(engine -> engine.tasks(where).toArray(TaskInfo[]::new));
        } catch (jpvmException e) {
            return null;
        }
    }

    // Hosts

    /** Returns the hosts; null if the machine cannot tell. */
    public static HostInfo[] config() {
        try {
            return Link.call(engine -> engine.hosts().toArray(HostInfo[]::new));
        } catch (jpvmException e) {
            return null;
        }
    }

    /** Adds hosts. Returns how many, and for each its id or a negative number. */
    public static int addhosts(String[] names, int[] results) {
        return call(engine -> told(engine.addHosts(List.of(names)), results));
    }

    /** Removes hosts. Returns how many, and for each 0 or a negative number. */
    public static int delhosts(String[] names, int[] results) {
        return call(engine -> told(engine.deleteHosts(List.of(names)), results));
    }

    private static int told(int[] outcomes, int[] results) {
        System.arraycopy(outcomes, 0, results, 0, outcomes.length);
        return (int) Arrays.stream(outcomes).filter(outcome -> outcome >= 0).count();
    }

    /** Returns the id of a task's host. */
    public static int tidtohost(int tid) {
        return call(engine -> engine.hosts().stream().mapToInt(HostInfo::tid)
                .filter(host -> Link.isOn(tid, host)).findFirst().orElse(PvmNoHost));
    }

    /** Ends the machine and all its tasks, this one included. */
    public static int halt() {
        return call(engine -> {
            engine.halt();
            return PvmOk;
        });
    }

    // Messages

    /** Begins a new send buffer with an encoding, PvmDataDefault or PvmDataRaw. */
    public static synchronized int initsend(int encoding) {
        if (encoding != PvmDataDefault && encoding != PvmDataRaw) {
            return encoding == PvmDataInPlace ? PvmNotImpl : PvmBadParam;
        }
        return call(engine -> {
            Outgoing fresh = engine.create(encoding == PvmDataRaw ? Encoding.RAW : Encoding.DEFAULT);
            if (sending != null) {
                sending.close();
            }
            sending = fresh;
            return PvmOk;
        });
    }

    private static synchronized int pack(Kind kind, Object items, int n, int stride) {
        return call(engine -> {
            if (sending == null) {
                return PvmNoBuf;
            }
            jpvmBuffer.check(items, n, stride);
            sending.pack(kind, items, 0, n, stride);
            return PvmOk;
        });
    }

    private static synchronized int unpack(Kind kind, Object items, int n, int stride) {
        return call(engine -> {
            if (received == null) {
                return PvmNoBuf;
            }
            jpvmBuffer.check(items, n, stride);
            received.unpack(kind, items, 0, n, stride);
            return PvmOk;
        });
    }

    /** Packs {@code n} items, {@code stride} elements apart. */
    public static int pkbyte(byte[] items, int n, int stride) {
        return pack(Kind.BYTE, items, n, stride);
    }

    /** Unpacks {@code n} items, {@code stride} elements apart. */
    public static int upkbyte(byte[] items, int n, int stride) {
        return unpack(Kind.BYTE, items, n, stride);
    }

    /** Packs {@code n} items, {@code stride} elements apart. */
    public static int pkshort(short[] items, int n, int stride) {
        return pack(Kind.SHORT, items, n, stride);
    }

    /** Unpacks {@code n} items, {@code stride} elements apart. */
    public static int upkshort(short[] items, int n, int stride) {
        return unpack(Kind.SHORT, items, n, stride);
    }

    /** Packs {@code n} items, {@code stride} elements apart. */
    public static int pkushort(char[] items, int n, int stride) {
        return pack(Kind.CHAR, items, n, stride);
    }

    /** Unpacks {@code n} items, {@code stride} elements apart. */
    public static int upkushort(char[] items, int n, int stride) {
        return unpack(Kind.CHAR, items, n, stride);
    }

    /** Packs {@code n} items, {@code stride} elements apart. */
    public static int pkint(int[] items, int n, int stride) {
        return pack(Kind.INT, items, n, stride);
    }

    /** Unpacks {@code n} items, {@code stride} elements apart. */
    public static int upkint(int[] items, int n, int stride) {
        return unpack(Kind.INT, items, n, stride);
    }

    /** Packs {@code n} items, {@code stride} elements apart. */
    public static int pklong(long[] items, int n, int stride) {
        return pack(Kind.LONG, items, n, stride);
    }

    /** Unpacks {@code n} items, {@code stride} elements apart. */
    public static int upklong(long[] items, int n, int stride) {
        return unpack(Kind.LONG, items, n, stride);
    }

    /** Packs {@code n} items, {@code stride} elements apart. */
    public static int pkfloat(float[] items, int n, int stride) {
        return pack(Kind.FLOAT, items, n, stride);
    }

    /** Unpacks {@code n} items, {@code stride} elements apart. */
    public static int upkfloat(float[] items, int n, int stride) {
        return unpack(Kind.FLOAT, items, n, stride);
    }

    /** Packs {@code n} items, {@code stride} elements apart. */
    public static int pkdouble(double[] items, int n, int stride) {
        return pack(Kind.DOUBLE, items, n, stride);
    }

    /** Unpacks {@code n} items, {@code stride} elements apart. */
    public static int upkdouble(double[] items, int n, int stride) {
        return unpack(Kind.DOUBLE, items, n, stride);
    }

    /** Packs a string. */
    public static synchronized int pkstr(String text) {
        return call(engine -> {
            if (sending == null) {
                return PvmNoBuf;
            }
            sending.packText(Texts.bytes(text, "packing"));
            return PvmOk;
        });
    }

    /** Unpacks a string into the first element of an array. */
    public static synchronized int upkstr(String[] text) {
        return call(engine -> {
            if (received == null) {
                return PvmNoBuf;
            }
            text[0] = new String(received.unpackText(), StandardCharsets.UTF_8);
            return PvmOk;
        });
    }

    /** Sends the send buffer to a task. */
    public static synchronized int send(int tid, int tag) {
        return call(engine -> {
            if (sending == null) {
                return PvmNoBuf;
            }
            engine.send(sending, tid, tag, Engine.CURRENT_CONTEXT);
            return PvmOk;
        });
    }

    /** Sends the send buffer to each of {@code n} tasks but this one. */
    public static synchronized int mcast(int[] tids, int n, int tag) {
        return call(engine -> {
            if (sending == null) {
                return PvmNoBuf;
            }
            engine.multicast(sending, Arrays.copyOf(tids, n), tag, Engine.CURRENT_CONTEXT);
            return PvmOk;
        });
    }

    /** Waits for a message, which becomes the receive buffer. Returns a positive number. */
    public static int recv(int tid, int tag) {
        return receive(tid, tag, -1);
    }

    /** Takes a message that has arrived already. Returns 0 if there is none. */
    public static int nrecv(int tid, int tag) {
        return receive(tid, tag, 0);
    }

    /** Waits for a message for some seconds and microseconds. Returns 0 if none has arrived by then. */
    public static int trecv(int tid, int tag, long seconds, long microseconds) {
        return call(engine -> {
            long limit = Math.addExact(Math.multiplyExact(seconds, 1_000_000_000L), Math.multiplyExact(microseconds, 1000L));
            return limit < 0 ? PvmBadParam : take(engine.receive(tid, tag, Engine.CURRENT_CONTEXT, limit));
        });
    }

    private static int receive(int tid, int tag, long limit) {
        return call(engine -> take(limit == 0
                ? engine.poll(tid, tag, Engine.CURRENT_CONTEXT)
                : engine.receive(tid, tag, Engine.CURRENT_CONTEXT, limit)));
    }

    private static synchronized int take(Incoming message) {
        if (message == null) {
            return 0;
        }
        if (received != null) {
            received.close();
        }
        received = message;
        return 1;
    }

    /** Returns a positive number if a message has arrived, else 0. The message is not taken. */
    public static int probe(int tid, int tag) {
        return call(engine -> engine.probe(tid, tag, Engine.CURRENT_CONTEXT) == null ? 0 : 1);
    }

    /** Tells the length, the tag and the sender of the receive buffer, each in the first element of an array or null. */
    public static synchronized int bufinfo(int[] bytes, int[] tag, int[] tid) {
        if (received == null) {
            return PvmNoBuf;
        }
        MessageInfo info = received.info();
        first(bytes, (int) Math.min(info.bytes(), Integer.MAX_VALUE));
        first(tag, info.tag());
        first(tid, info.source());
        return PvmOk;
    }

    private static void first(int[] array, int number) {
        if (array != null) {
            array[0] = number;
        }
    }

    // Groups

    /** Joins a group and returns this task's number in it. */
    public static int joingroup(String group) {
        return call(engine -> engine.join(group));
    }

    /** Leaves a group. */
    public static int lvgroup(String group) {
        return call(engine -> {
            engine.leaveGroup(group);
            return PvmOk;
        });
    }

    /** Returns the id of the member that has a number in a group. */
    public static int gettid(String group, int instance) {
        return call(engine -> {
            int[] members = engine.members(group);
            return instance < 0 || instance >= members.length || members[instance] == 0 ? PvmNoInst : members[instance];
        });
    }

    /** Returns the number that a task has in a group. */
    public static int getinst(String group, int tid) {
        return call(engine -> {
            int[] members = engine.members(group);
            for (int i = 0; i < members.length; i++) {
                if (members[i] == tid) {
                    return i;
                }
            }
            return PvmNotInGroup;
        });
    }

    /** Returns the number of members of a group. */
    public static int gsize(String group) {
        return call(engine -> (int) Arrays.stream(engine.members(group)).filter(tid -> tid != 0).count());
    }

    /** Waits until {@code count} members have called this; -1 means all. */
    public static int barrier(String group, int count) {
        return call(engine -> {
            engine.barrier(group, count);
            return PvmOk;
        });
    }

    /** Sends the send buffer to all members of a group but this task. */
    public static synchronized int bcast(String group, int tag) {
        return call(engine -> {
            if (sending == null) {
                return PvmNoBuf;
            }
            int[] members = Arrays.stream(engine.members(group)).filter(tid -> tid > 0).toArray();
            engine.multicast(sending, members, tag, Engine.CURRENT_CONTEXT);
            return PvmOk;
        });
    }

    /** Prints a text and what a result means. */
    public static int perror(String text, int result) {
        System.err.println("jPVM: " + text + ": " + (result >= 0 ? "no error" : Code.of(result).text()));
        return PvmOk;
    }
}
