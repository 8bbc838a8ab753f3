// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.neopvm.Code;
import org.neopvm.Encoding;
import org.neopvm.HostInfo;
import org.neopvm.MemoryInfo;
import org.neopvm.MessageInfo;
import org.neopvm.PvmException;
import org.neopvm.TaskInfo;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Exposure;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Outgoing;
import org.neopvm.engine.Waiters;

/**
 * The engine over NeoPVM's C library, without any native code of its own. The library knows one task for the process,
 * so two of these engines in one process (in two class loaders) are the same task and share what arrives.
 */
public final class NativeEngine implements Engine {
    /** A platform thread that waits in the library looks this often whether it was interrupted. */
    private static final long SLICE_NS = 100_000_000;
    /** A wait of this length looks at the connection, too. */
    private static final long LOOK_NS = 1_000_000;
    /** For so long a look at the connection is believed: a hundredth of the time goes into such looks. */
    private static final long BELIEVED_NS = 100_000_000;
    /** {@code PvmAutoErr} of {@code pvm3.h}: 0 prints nothing. */
    private static final int AUTO_ERR = 3;

    private final int tid;
    private final int parent;
    /** When the connection was there last. */
    private volatile long lookedAt = System.nanoTime();
    private final AtomicBoolean left = new AtomicBoolean();
    private final Waiters waiters = new Waiters(this::pollNow);
    private final Arrivals arrivals = new Arrivals(waiters);
    private final Machine machine = new Machine(this);
    private final Names names = new Names(this);
    private final Memories memories = new Memories(this);

    private NativeEngine() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment ids = arena.allocate(JAVA_INT, 2);
            Calls.check((int) Calls.ENROL.invokeExact(ids, ids.asSlice(4)), "enrolling in the machine");
            tid = ids.getAtIndex(JAVA_INT, 0);
            parent = ids.getAtIndex(JAVA_INT, 1);
            int ignored = (int) Calls.SET_OPTION.invokeExact(AUTO_ERR, 0);
            Forgotten.begin();
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /** Why there is no native engine here, or null if there is one. */
    public static String problem() {
        return Library.PROBLEM;
    }

    /** True if the user has said where the library is, so that going on without it would be wrong. */
    public static boolean isAskedFor() {
        return Library.NAMED;
    }

    /** Enrols this process. {@link Code#SYS_ERR} if no daemon answers. */
    public static Engine open() {
        if (Library.PROBLEM != null) {
            throw new PvmException(Code.NOT_IMPL, Library.PROBLEM);
        }
        return new NativeEngine();
    }

    /** Throws if this task has left: the library would enrol it again. */
    void check() {
        if (left.get()) {
            throw new PvmException(Code.SYS_ERR, "task t" + Integer.toHexString(tid) + " has left the machine");
        }
    }

    @Override
    public String name() {
        return "native";
    }

    @Override
    public int tid() {
        return tid;
    }

    @Override
    public int parent() {
        return parent;
    }

    @Override
    public void leave() {
        if (!left.compareAndSet(false, true)) {
            return;
        }
        try {
            int ignored = (int) Calls.LEAVE.invokeExact();
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        } finally {
            arrivals.end();
            Forgotten.end();
        }
    }

    @Override
    public boolean isLost() {
        return left.get() || System.nanoTime() - lookedAt > BELIEVED_NS && isLostNow();
    }

    @Override
    public boolean isLostNow() {
        if (left.get() || isGone()) {
            return true;
        }
        lookedAt = System.nanoTime();
        return false;
    }

    /** Looks for the end of the connection, which nobody sees while nobody waits. */
    private static boolean isGone() {
        long now = awaitArrival(0, 0);
        return now < 0 || awaitArrival(now, LOOK_NS) < 0;
    }

    /** Waits until another number of messages than that has arrived; how many have (modulo 2^32), or a negative code. */
    private static long awaitArrival(long seen, long limitNs) {
        Scratch scratch = Scratch.take();
        try {
            MemorySegment count = scratch.answer();
            count.set(JAVA_INT, 0, (int) seen);
            int status = (int) Calls.WAIT.invokeExact(count, limitNs);
            return status < 0 ? status : Integer.toUnsignedLong(count.get(JAVA_INT, 0));
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        } finally {
            scratch.give();
        }
    }

    @Override
    public Outgoing create(Encoding encoding) {
        check();
        return new NativeOutgoing(encoding);
    }

    @Override
    public void send(Outgoing message, int tid, int tag, int context) {
        check();
        NativeOutgoing buffer = own(message);
        synchronized (buffer) {
            sendHeld(buffer, tid, tag, context);
        }
    }

    @Override
    public void sendLast(Outgoing message, int tid, int tag, int context) {
        NativeOutgoing buffer = own(message);
        synchronized (buffer) {
            try {
                check();
                sendHeld(buffer, tid, tag, context);
            } finally {
                buffer.close();
            }
        }
    }

    private static NativeOutgoing own(Outgoing message) {
        if (message instanceof NativeOutgoing own) {
            return own;
        }
        throw new PvmException(Code.NO_SUCH_BUF, "sending a message of another engine");
    }

    /** The caller holds the buffer's monitor. */
    private static void sendHeld(NativeOutgoing buffer, int tid, int tag, int context) {
        try {
            int status = buffer.isStaged()
                    ? buffer.sendStaged(tid, tag, context)
                    : (int) Calls.SEND.invokeExact(buffer.number(), tid, tag, context);
            if (status < 0) {
                Calls.check(status, "sending to task t" + Integer.toHexString(tid) + " with tag " + tag);
            }
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    @Override
    public void multicast(Outgoing message, int[] tids, int tag, int context) {
        check();
        NativeOutgoing buffer = own(message);
        synchronized (buffer) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment to = arena.allocateFrom(JAVA_INT, tids);
                int status =
                        (int) Calls.MULTICAST.invokeExact(buffer.number(), to, (long) tids.length, tag, context);
                Calls.check(status, "sending to " + tids.length + " tasks with tag " + tag);
            } catch (Throwable e) {
                throw Calls.unexpected(e);
            }
        }
    }

    @Override
    public void forward(Incoming message, int tid, int tag, int context) {
        check();
        int status = switch (message) {
            case SmallIncoming small -> small.forward(tid, tag, context);
            case NativeIncoming buffer -> buffer.forward(tid, tag, context);
            default -> throw new PvmException(Code.NO_SUCH_BUF, "sending a message of another engine");
        };
        if (status < 0) {
            throw new PvmException(Code.of(status), "sending the " + message.info() + " to t" + Integer.toHexString(tid));
        }
    }

    @Override
    public Incoming poll(int source, int tag, int context) {
        return take(source, tag, context, 0);
    }

    private Incoming take(int source, int tag, int context, long limitNs) {
        if (!Forgotten.isFull()) {
            return takeNow(source, tag, context, limitNs);
        }
        long arrived = limitNs > 0 ? awaitArrival(0, 0) : 0;
        Incoming message = takeWhileFull(source, tag, context, true);
        if (message == null && limitNs > 0) {
            // Waiting for the message itself would take it, whatever its size.
            awaitArrival(arrived, limitNs);
        }
        return message;
    }

    /** As {@link #poll}, for those who wait in Java: under their lock the collector is not waited for. */
    private Incoming pollNow(int source, int tag, int context) {
        return Forgotten.isFull() ? takeWhileFull(source, tag, context, false) : takeNow(source, tag, context, 0);
    }

    /** Only a message that is here, and not small, fails as open ones hold too much: who waits for another goes on. */
    private Incoming takeWhileFull(int source, int tag, int context, boolean patiently) {
        MessageInfo head = probe(source, tag, context);
        if (head == null) {
            return null;
        }
        if (head.bytes() > Forgotten.SMALL || Forgotten.isOverfull()) {
            Forgotten.check("receiving the " + head, patiently);
        }
        return takeNow(source, tag, context, 0);
    }

    private Incoming takeNow(int source, int tag, int context, long limitNs) {
        check();
        Scratch scratch = Scratch.take();
        try {
            MemorySegment out = scratch.answer();
            int status = (int) Calls.RECEIVE_ITEMS.invokeExact(source, tag, context, limitNs, out);
            if (status < 0) {
                Calls.check(status, "receiving from " + (source < 0 ? "any task" : "task t"
                        + Integer.toHexString(source)) + (tag < 0 ? "" : " with tag " + tag));
            }
            return Received.read(out);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        } finally {
            scratch.give();
        }
    }

    @Override
    public Incoming receive(int source, int tag, int context, long limitNs) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (limitNs == 0) {
            return poll(source, tag, context);
        }
        if (Thread.currentThread().isVirtual()) {
            // Only a thread is woken by it.
            return Waiters.await(receiveAsync(source, tag, context, null), limitNs);
        }
        // The clock is not asked where nothing depends on it.
        long start = limitNs < 0 ? 0 : System.nanoTime();
        for (;;) {
            long rest = limitNs < 0 ? SLICE_NS : limitNs - (System.nanoTime() - start);
            Incoming message = take(source, tag, context, Math.max(0, Math.min(rest, SLICE_NS)));
            if (message != null || rest <= 0) {
                return message;
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    @Override
    public CompletableFuture<Incoming> receiveAsync(int source, int tag, int context, Executor executor) {
        check();
        Forgotten.makeRoomSometimes();
        CompletableFuture<Incoming> future = waiters.add(source, tag, context, executor);
        if (!future.isDone()) {
            arrivals.watch();
        }
        return future;
    }

    @Override
    public boolean discard(int source, int tag, int context) {
        Incoming message = takeNow(source, tag, context, 0);
        if (message != null) {
            message.close();
        }
        return message != null;
    }

    @Override
    public MessageInfo probe(int source, int tag, int context) {
        check();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment head = arena.allocate(Head.BYTES + 8, 8);
            MemorySegment found = head.asSlice(Head.BYTES);
            Calls.check((int) Calls.PROBE.invokeExact(source, tag, context, head, found), "probing");
            return found.get(JAVA_INT, 0) == 0 ? null : Head.read(head);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    @Override
    public int[] spawn(String program, List<String> arguments, int flags, String where, int count)
            throws InterruptedException {
        return Offloaded.callPatiently(
                giveUp -> machine.spawn(program, arguments, flags, where, count, giveUp), "spawning " + program);
    }

    @Override
    public void signal(int tid, int number) {
        Offloaded.callAtOnce(() -> machine.signal(tid, number));
    }

    @Override
    public void notify(int kind, int tag, int context, int[] tids, int count) {
        Offloaded.callAtOnce(() -> machine.notify(kind, tag, context, tids, count));
    }

    @Override
    public List<HostInfo> hosts() {
        return Offloaded.callAtOnce(machine::hosts);
    }

    @Override
    public List<TaskInfo> tasks(int where) {
        return Offloaded.callAtOnce(() -> machine.tasks(where));
    }

    @Override
    public int[] addHosts(List<String> names) throws InterruptedException {
        return Offloaded.callOnce(
                () -> machine.changeHosts(Calls.ADD_HOSTS, names, "adding hosts"), "adding hosts");
    }

    @Override
    public int[] deleteHosts(List<String> names) throws InterruptedException {
        return Offloaded.callOnce(
                () -> machine.changeHosts(Calls.DELETE_HOSTS, names, "removing hosts"), "removing hosts");
    }

    @Override
    public void halt() {
        Offloaded.callAtOnce(machine::halt);
    }

    @Override
    public int put(String name, Outgoing message, int flags) {
        NativeOutgoing buffer = own(message);
        return Offloaded.callAtOnce(() -> names.put(name, buffer, flags));
    }

    @Override
    public Incoming get(String name, int index, int flags) throws InterruptedException {
        return (flags & WAIT) == 0
                ? Offloaded.callAtOnce(() -> names.get(name, index, flags))
                : Offloaded.callPatiently(giveUp -> names.get(name, index, flags, giveUp), "the message named " + name);
    }

    @Override
    public void delete(String name, int index) {
        Offloaded.callAtOnce(() -> names.delete(name, index));
    }

    @Override
    public int join(String group) {
        return Offloaded.callAtOnce(() -> names.join(group));
    }

    @Override
    public void leaveGroup(String group) {
        Offloaded.callAtOnce(() -> names.leave(group));
    }

    @Override
    public int[] members(String group) {
        return Offloaded.callAtOnce(() -> names.members(group));
    }

    @Override
    public void barrier(String group, int count) throws InterruptedException {
        String what = "waiting at the barrier of group " + group;
        if (!Thread.currentThread().isVirtual()) {
            if (Thread.interrupted()) {
                throw new InterruptedException(what);
            }
            // Most are met soon. Then it is left, and entered anew where an interrupt ends it.
            if (names.barrier(group, count, SLICE_NS, MemorySegment.NULL) != null) {
                return;
            }
        }
        Offloaded.callPatiently(giveUp -> names.barrier(group, count, -1, giveUp), what);
    }

    @Override
    public int freeze(String group, int size) throws InterruptedException {
        return Offloaded.callPatiently(giveUp -> names.freeze(group, size, giveUp), "freezing group " + group);
    }

    @Override
    public Exposure expose(int number, long bytes, boolean writable) {
        return Offloaded.callAtOnce(() -> memories.expose(number, bytes, writable));
    }

    @Override
    public MemoryInfo exposed(int tid, int number) {
        return Offloaded.callAtOnce(() -> memories.exposed(tid, number));
    }

    @Override
    public void getMemory(int tid, int number, long offset, ByteBuffer into) {
        Offloaded.callAtOnce(() -> memories.get(tid, number, offset, into));
    }

    @Override
    public void putMemory(int tid, int number, long offset, ByteBuffer from) {
        Offloaded.callAtOnce(() -> memories.put(tid, number, offset, from));
    }

    @Override
    public long addMemory(int tid, int number, long offset, int bytes, long add) {
        return Offloaded.callAtOnce(() -> memories.add(tid, number, offset, bytes, add));
    }

    @Override
    public long exchangeMemory(int tid, int number, long offset, int bytes, long expected, long wanted) {
        return Offloaded.callAtOnce(() -> memories.exchange(tid, number, offset, bytes, expected, wanted));
    }

    @Override
    public int newContext() {
        return Offloaded.callAtOnce(machine::newContext);
    }

    @Override
    public void freeContext(int context) {
        Offloaded.callAtOnce(() -> machine.freeContext(context));
    }

    @Override
    public void mark(String name, long value) {
        check();
        Marks.mark(name, value);
    }

    @Override
    public void state(String name) {
        check();
        Marks.state(name);
    }

    @Override
    public void progress(String text, long done, long total) {
        check();
        Marks.progress(text, done, total);
    }
}
