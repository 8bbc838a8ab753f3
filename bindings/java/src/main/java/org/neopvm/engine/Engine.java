// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.neopvm.Encoding;
import org.neopvm.HostInfo;
import org.neopvm.MemoryInfo;
import org.neopvm.MessageInfo;
import org.neopvm.TaskInfo;

/**
 * The operations of a task on its machine: the few that every transport offers, and that everything else uses.
 *
 * <p>All calls may come from any thread, platform or virtual, at the same time. No call holds a carrier thread of
 * virtual threads while it waits for another task or for the daemon. Failures are {@link
 * org.neopvm.PvmException}s; after {@link #leave}, and when the daemon is lost for good, waits end and calls fail
 * with {@link org.neopvm.Code#SYS_ERR}.
 *
 * <p>An interrupt of its thread ends a wait for a message, for one under a name, at a barrier, for the freezing of a group
 * and for a spawn with {@link InterruptedException}, and then it has no effect: nothing is taken, counted or started. What
 * has come of it by then is told, and the thread is interrupted behind it. A change of hosts is not begun by a thread that
 * is interrupted already; once begun it goes on to its end, and the thread is interrupted then.
 *
 * <p>Wildcards: -1 as source or tag means any. Contexts are numbers; 0 is the one in which programs
 * begin, and {@link #CURRENT_CONTEXT} the one in which this task was started.
 */
public interface Engine {
    /** A flag of {@code pvm_recvinfo}: the message is removed. */
    int TAKE = 16;
    /** A flag of {@code pvm_recvinfo}: it is waited for. */
    int WAIT = 32;
    /** The context in which this task was started: that of the task that spawned it. */
    int CURRENT_CONTEXT = -1;
    /** Any task as a source, any tag. */
    int ANY = -1;

    /** {@code native} or {@code wire}. */
    String name();

    /** This task's id. */
    int tid();

    /** The id of the task that spawned this one, or {@code PvmNoParent}, or {@code PvmParentNotSet}. */
    int parent();

    /** Leaves the machine. A second time it does nothing. */
    void leave();

    /** True once this task has left or its daemon is lost: no call will succeed any more. */
    boolean isLost();

    /** The same by a look of this moment: what {@link #isLost} tells may be a tenth of a second old. */
    default boolean isLostNow() {
        return isLost();
    }

    // Messages

    /** A message to be packed. */
    Outgoing create(Encoding encoding);

    /** Sends. A task that does not exist is no error, as in PVM. */
    void send(Outgoing message, int tid, int tag, int context);

    /** Sends, and closes the message, also where sending fails. */
    default void sendLast(Outgoing message, int tid, int tag, int context) {
        try (message) {
            send(message, tid, tag, context);
        }
    }

    /** Sends to each of the tasks once, but never to this task. */
    void multicast(Outgoing message, int[] tids, int tag, int context);

    /** Sends a received message on, with all of its items, however far it is read. */
    void forward(Incoming message, int tid, int tag, int context);

    /** Takes the first message that fits, or null if there is none now. */
    Incoming poll(int source, int tag, int context);

    /**
     * Takes the first message that fits, waiting for it.
     *
     * @param limitNs how long in nanoseconds; negative waits for ever
     * @return null when the limit is over
     */
    Incoming receive(int source, int tag, int context, long limitNs) throws InterruptedException;

    /**
     * Sends a message, closes it, and takes the first message with the reply's tag, from whomever it is. An engine may
     * tell a failure of the send only when the limit is over.
     *
     * @param limitNs how long the reply is waited for, in nanoseconds; not negative
     * @return null when the limit is over
     */
    default Incoming exchange(Outgoing message, int tid, int tag, int context, int replyTag, long limitNs)
            throws InterruptedException {
        sendLast(message, tid, tag, context);
        return receive(ANY, replyTag, context, limitNs);
    }

    /** Takes the first message that fits and forgets it; false if there is none now. */
    boolean discard(int source, int tag, int context);

    /** Tells of the first message that fits without taking it; null if there is none. */
    MessageInfo probe(int source, int tag, int context);

    /**
     * The first message that fits, when it has come. Cancelling the future, or completing it otherwise, gives up the
     * wait without losing a message ({@link Withdrawable}).
     *
     * @param executor completes the future, so that what depends on it runs there; {@link Dependents#DEFAULT} if it
     *     refuses. It is handed to by a thread of that one, so that it may run what it gets in its caller.
     */
    CompletableFuture<Incoming> receiveAsync(int source, int tag, int context, Executor executor);

    // Tasks and hosts

    /**
     * Starts programs.
     *
     * @param flags of {@code pvm_spawn}, added up
     * @param where host or architecture, or null
     * @return {@code count} elements: ids first, then the negative results of those that failed
     */
    int[] spawn(String program, List<String> arguments, int flags, String where, int count)
            throws InterruptedException;

    /** Sends a signal to a task. A task that does not exist is no error. */
    void signal(int tid, int number);

    /**
     * Asks for messages under {@code tag} when one of the tasks or hosts ends (kinds 1 and 2: one int, its id), or
     * hosts come (kind 3; {@code tids} is null and {@code count} tells how many messages are wanted, -1 being all:
     * each has the number of new hosts and their ids). 256 added to the kind cancels.
     */
    void notify(int kind, int tag, int context, int[] tids, int count);

    /** The hosts of the machine. */
    List<HostInfo> hosts();

    /** Tasks: all for 0, or those of a host, or one. {@link org.neopvm.Code#NO_TASK} for one that is not there. */
    List<TaskInfo> tasks(int where);

    /** Adds hosts, each as a line of a host file, none being no error. Returns an id or a negative result for each. */
    int[] addHosts(List<String> names) throws InterruptedException;

    /** Removes hosts, none being no error. Returns 0 or a negative result for each. */
    int[] deleteHosts(List<String> names) throws InterruptedException;

    /** Ends the machine and all its tasks, this one included. */
    void halt();

    // Named messages

    /** Puts a message under a name with flags of {@code pvm_putinfo}; returns its index. */
    int put(String name, Outgoing message, int flags);

    /**
     * The message under a name.
     *
     * @param flags of {@code pvm_recvinfo}; with {@link #WAIT} it waits until there is one
     * @return null if there is none
     */
    Incoming get(String name, int index, int flags) throws InterruptedException;

    /** Removes the message under a name; {@link org.neopvm.Code#NOT_FOUND} if there is none. */
    void delete(String name, int index);

    // Groups

    /** Joins a group; returns this task's number in it. */
    int join(String group);

    /** Leaves a group. */
    void leaveGroup(String group);

    /** Ids of the members by their numbers in the group, 0 where nobody is. */
    int[] members(String group);

    /** Waits until {@code count} members have called it; -1 means all. */
    void barrier(String group, int count) throws InterruptedException;

    /** Fixes the members of a group once {@code size} of them have asked for it; returns how many they are. */
    int freeze(String group, int size) throws InterruptedException;

    // Exposed memory. Numbers of it are C's uint32_t. No interrupt ends these calls.

    /** Exposes fresh memory, all 0; {@link org.neopvm.Code#NOT_IMPL} where this task has no shared memory. */
    Exposure expose(int number, long bytes, boolean writable);

    /** The memory that a task exposes under a number. */
    MemoryInfo exposed(int tid, int number);

    /** Reads as many bytes as the buffer has left, from an offset on. */
    void getMemory(int tid, int number, long offset, ByteBuffer into);

    /** Writes the bytes that the buffer has left, from an offset on. */
    void putMemory(int tid, int number, long offset, ByteBuffer from);

    /** Adds to a word of 4 or 8 bytes in one step; its value before, with its sign. */
    long addMemory(int tid, int number, long offset, int bytes, long add);

    /** Sets a word of 4 or 8 bytes in one step if it has the expected value; its value before, with its sign. */
    long exchangeMemory(int tid, int number, long offset, int bytes, long expected, long wanted);

    // Contexts

    /** A context that nobody else has. */
    int newContext();

    /** Gives a context back. */
    void freeContext(int context);

    // What the program says of itself to those who record it. A task without shared memory has no trace ring, so
    // there these calls have no effect. None of them waits.

    /** A mark with a value. */
    void mark(String name, long value);

    /** States what the program does from now on; null for nothing more. */
    void state(String name);

    /** States how far the program is; both numbers are C's uint64_t. */
    void progress(String text, long done, long total);
}
