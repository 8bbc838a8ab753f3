// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.neopvm.engine.Dependents;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Withdrawable;

/**
 * The parallel virtual machine, as a task of it sees it.
 *
 * <pre>{@code
 * try (Pvm pvm = Pvm.connect()) {
 *     for (TaskId worker : pvm.spawn("worker", 4).orThrow()) {
 *         pvm.message().put("hello").to(worker, 1);
 *     }
 *     try (Message answer = pvm.receive(TaskId.ANY, 2, Duration.ofSeconds(60)).orElseThrow()) {
 *         System.out.println(answer.source() + " says " + answer.getString());
 *     }
 * }
 * }</pre>
 *
 * <p>All calls may come from any thread, platform or virtual. A process is one task, however often it connects; it
 * leaves the machine when the last connection is closed. Closing twice does nothing.
 *
 * <p>Failures are {@link PvmException}s. Waits for messages, also for those under names, barriers, freezes and spawns end
 * with {@link InterruptedException} when their thread is interrupted, and then nothing is taken, counted or started. Where
 * something has come of the call by then, its result is told, and the thread is interrupted behind it. A change of hosts is
 * not begun by a thread that is interrupted; once begun it goes on to its end, and the thread is interrupted then.
 */
public final class Pvm implements AutoCloseable {
    /** As a tag of a receive: any. */
    public static final int ANY_TAG = Engine.ANY;
    private static final int TERMINATE = 15;

    private final Session session;
    private final Engine engine;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Pvm(Session session) {
        this.session = session;
        this.engine = session.engine;
    }

    /**
     * Enrols this process as a task; anew where the daemon of an earlier connection is lost. That connection stays
     * closed.
     *
     * @throws PvmException {@link Code#SYS_ERR} if no machine runs here
     */
    public static Pvm connect() {
        return new Pvm(Session.open());
    }

    /**
     * The same, but starts a machine of this computer with {@code pvm up} if none runs. It goes on when this task has
     * ended; {@link #halt} or {@code pvm halt} ends it.
     *
     * @throws PvmException {@link Code#CANT_START} if it cannot be started
     */
    public static Pvm connectOrStart() throws InterruptedException {
        try {
            return connect();
        } catch (PvmException e) {
            if (e.code() != Code.SYS_ERR) {
                throw e;
            }
        }
        Starter.start();
        return connect();
    }

    /** {@code native} or {@code wire}: what carries the messages of this task. */
    public String engine() {
        return engine.name();
    }

    /** The operations on which all this stands, for what it does not offer. */
    public Engine transport() {
        return engine;
    }

    /** False once this connection is closed, this process has left the machine, or its daemon is lost. */
    public boolean isOpen() {
        return !closed.get() && session.isOpen();
    }

    /** This task. */
    public TaskId self() {
        return new TaskId(engine.tid());
    }

    /** The task that spawned this one, if one did. */
    public Optional<TaskId> parent() {
        return engine.parent() > 0 ? Optional.of(new TaskId(engine.parent())) : Optional.empty();
    }

    // Messages

    /** A message to be packed, for receivers of every kind. */
    public Draft message() {
        return message(Encoding.DEFAULT);
    }

    /** A message to be packed. */
    public Draft message(Encoding encoding) {
        return new Draft(engine, encoding);
    }

    /** Waits for a message of a task ({@link TaskId#ANY}) with a tag ({@link #ANY_TAG}). */
    public Message receive(TaskId source, int tag) throws InterruptedException {
        return new Message(engine.receive(source.number(), tag, Engine.CURRENT_CONTEXT, -1));
    }

    /** The same within a time; empty if it is over. */
    public Optional<Message> receive(TaskId source, int tag, Duration limit) throws InterruptedException {
        return Optional.ofNullable(
                engine.receive(source.number(), tag, Engine.CURRENT_CONTEXT, nanoseconds(limit))).map(Message::new);
    }

    private static long nanoseconds(Duration limit) {
        try {
            return Math.max(0, limit.toNanos());
        } catch (ArithmeticException e) {
            return limit.isNegative() ? 0 : Long.MAX_VALUE;
        }
    }

    /** A message that is here already. */
    public Optional<Message> poll(TaskId source, int tag) {
        return Optional.ofNullable(engine.poll(source.number(), tag, Engine.CURRENT_CONTEXT)).map(Message::new);
    }

    /**
     * The next message that fits, when it has come. Cancelling gives the wait up, and loses no message. A failure of
     * the machine completes it with a {@link PvmException}.
     *
     * <p>What depends on the future runs on a thread of the library's, of which there are as many as wait at the same
     * time: a dependent may itself wait for messages.
     */
    public CompletableFuture<Message> receiveAsync(TaskId source, int tag) {
        return receiveAsync(source, tag, Dependents.DEFAULT);
    }

    /**
     * The same with what depends on the future run by an executor, to which a thread of the library's hands it, in the
     * order in which messages were taken; by the library's if that one refuses.
     */
    public CompletableFuture<Message> receiveAsync(TaskId source, int tag, Executor executor) {
        Objects.requireNonNull(executor, "an executor is needed");
        return new Coming(engine.receiveAsync(source.number(), tag, Engine.CURRENT_CONTEXT, executor), executor);
    }

    /**
     * Takes a message that is here already and forgets it, whatever its size: also one that a receive has refused
     * ({@link Code#OVERFLOW}, {@link Code#NO_MEM}) and that would stand in the way of those behind it.
     *
     * @return false if none is here
     */
    public boolean discard(TaskId source, int tag) {
        return engine.discard(source.number(), tag, Engine.CURRENT_CONTEXT);
    }

    /** The head of a message that is here already, which stays. */
    public Optional<MessageInfo> probe(TaskId source, int tag) {
        return Optional.ofNullable(engine.probe(source.number(), tag, Engine.CURRENT_CONTEXT));
    }

    // Tasks

    /** Starts programs where the machine likes. */
    public Team spawn(String program, int count) throws InterruptedException {
        return spawn(program, List.of(), Place.ANYWHERE, count);
    }

    /**
     * Starts programs. Those that could not be started are told with their reasons ({@link Team#failures}); with an
     * error of the whole call, such as a place that does not exist, this throws.
     */
    public Team spawn(String program, List<String> arguments, Place place, int count) throws InterruptedException {
        return Team.of(program, engine.spawn(program, arguments, place.flags(), place.where(), count));
    }

    /** Ends a task. One that does not exist is no error. */
    public void kill(TaskId task) {
        signal(task, TERMINATE);
    }

    /** Sends a signal of the operating system to a task. One that does not exist is no error. */
    public void signal(TaskId task, int number) {
        engine.signal(task.number(), number);
    }

    /** All tasks of the machine. */
    public List<TaskInfo> tasks() {
        return engine.tasks(0);
    }

    /** True if a task is there. */
    public boolean isAlive(TaskId task) {
        try {
            return !engine.tasks(task.number()).isEmpty();
        } catch (PvmException e) {
            if (e.code() == Code.NO_TASK || e.code() == Code.NO_HOST) {
                return false;
            }
            throw e;
        }
    }

    /** Has {@code told} run, on a thread for such events, when one of the tasks has ended; at once if it is gone. */
    public Subscription onExit(Collection<TaskId> tasks, Consumer<TaskExit> told) {
        return session.watch.exits(tasks, told);
    }

    /** The same for a team. */
    public Subscription onExit(Team team, Consumer<TaskExit> told) {
        return onExit(team.tasks(), told);
    }

    // Hosts

    /** The hosts of the machine. */
    public List<HostInfo> hosts() {
        return engine.hosts();
    }

    /**
     * Adds hosts, each as a line of a host file.
     *
     * @return for each null, or why it could not be added
     */
    public List<Optional<Code>> addHosts(List<String> names) throws InterruptedException {
        return outcomes(engine.addHosts(names));
    }

    /** Removes hosts; their tasks end. Tells for each nothing, or why it could not be removed. */
    public List<Optional<Code>> deleteHosts(List<String> names) throws InterruptedException {
        return outcomes(engine.deleteHosts(names));
    }

    private static List<Optional<Code>> outcomes(int[] results) {
        return java.util.Arrays.stream(results)
                .mapToObj(n -> n < 0 ? Optional.of(Code.of(n)) : Optional.<Code>empty()).toList();
    }

    /** Has {@code told} run when one of the hosts that are in the machine now leaves it. */
    public Subscription onHostGone(Consumer<HostGone> told) {
        return session.watch.hostsGone(hosts(), told);
    }

    /** Has {@code told} run when hosts come into the machine. */
    public Subscription onHostsAdded(Consumer<HostsAdded> told) {
        return session.watch.hostsAdded(told);
    }

    /** Ends the machine and all its tasks, this process with its program included. */
    public void halt() {
        engine.halt();
    }

    // Beyond single messages

    /** Messages under names, which all tasks see. */
    public Registry registry() {
        return new Registry(engine);
    }

    /**
     * Exposes fresh memory, all 0, under a number of this task's own. All tasks of the machine may read it by {@link
     * Memory} and, if it is {@code writable}, write it.
     *
     * @throws PvmException {@link Code#ALREADY} for a number in use, {@link Code#NO_MEM}, and {@link Code#NOT_IMPL} with the
     *     wire engine, whose tasks have no shared memory: they reach that of others
     */
    public Exposed expose(int number, long bytes, boolean writable) {
        return new Exposed(memory(self(), number), engine.expose(number, bytes, writable), bytes, writable);
    }

    /** What a task exposes under a number. Nothing is asked before it is used. */
    public Memory memory(TaskId owner, int number) {
        return new Memory(engine, owner, number);
    }

    /** Joins a group. */
    public Group join(String group) {
        return new Group(engine, group, engine.join(group));
    }

    /** A farm of {@code workers} tasks of a program, which are started when it runs. */
    public Farm farm(String program, int workers) {
        return new Farm(this, program, workers);
    }

    /** Leaves the machine if this was the last connection. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            session.close();
        }
    }

    /** Leaves the machine at once. Calls over other connections of this process fail from now on. */
    public void leave() {
        if (closed.compareAndSet(false, true)) {
            session.end();
        }
    }

    private static final class Coming extends Withdrawable<Message> {
        private final CompletableFuture<Incoming> from;

        Coming(CompletableFuture<Incoming> from, Executor executor) {
            super(executor);
            this.from = from;
            from.whenComplete((message, failure) -> {
                if (from.isCancelled()) {
                    return; // by us, who say ourselves how it ends
                }
                if (failure != null) {
                    fail(failure);
                } else if (message != null) {
                    tell(message);
                }
            });
        }

        /** Whatever goes wrong, nobody waits for ever. */
        private void tell(Incoming message) {
            try {
                fulfil(new Message(message));
            } catch (Throwable e) {
                fail(e);
            }
        }

        @Override
        protected void tellNow() {
            throw new IllegalStateException("told by the one that it stands for");
        }

        @Override
        protected boolean withdraw() {
            return from.cancel(false);
        }
    }
}
