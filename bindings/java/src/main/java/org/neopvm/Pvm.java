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
 * The connection of this process to a parallel virtual machine.
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
 * <p>Any thread, platform or virtual, may make any call. A process is one task, however often it
 * connects, and leaves the machine when its last connection is closed. Closing a connection twice
 * does nothing.
 *
 * <p>Failures are {@link PvmException}s. If a thread is interrupted while it waits for a message, a
 * named message, a barrier, a freeze or a spawn, the call throws {@link InterruptedException}, and
 * nothing is taken, counted or started. If the call has had its effect already, it returns its
 * result and sets the interrupt flag of the thread. A thread that is interrupted already does not
 * begin to add or delete hosts. A change that has begun is completed, and the interrupt flag is set
 * afterwards.
 */
public final class Pvm implements AutoCloseable {
    /** As the tag of a receive: any tag. */
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
     * Makes this process a task of the machine. If the daemon of an earlier connection is lost, the
     * process becomes a new task, and the earlier connection stays closed.
     *
     * @throws PvmException {@link Code#SYS_ERR} if no machine runs here
     */
    public static Pvm connect() {
        return new Pvm(Session.open());
    }

    /**
     * Connects as {@link #connect} does, but starts a machine on this computer with {@code pvm up}
     * if none runs. The machine goes on when this task ends; {@link #halt} or {@code pvm halt} ends
     * it.
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

    /**
     * Returns the name of the engine that transfers the messages of this task: {@code native} or
     * {@code wire}.
     */
    public String engine() {
        return engine.name();
    }

    /** Returns the engine, for operations that this class does not offer. */
    public Engine transport() {
        return engine;
    }

    /**
     * Returns false once this connection is closed, this process has left the machine, or its
     * daemon is lost.
     */
    public boolean isOpen() {
        return !closed.get() && session.isOpen();
    }

    /** Returns the id of this task. */
    public TaskId self() {
        return new TaskId(engine.tid());
    }

    /** Returns the task that spawned this one, if there is one. */
    public Optional<TaskId> parent() {
        return engine.parent() > 0 ? Optional.of(new TaskId(engine.parent())) : Optional.empty();
    }

    // Messages

    /** Makes a message in the default encoding, which receivers of every architecture can read. */
    public Draft message() {
        return message(Encoding.DEFAULT);
    }

    /** Makes a message to be packed. */
    public Draft message(Encoding encoding) {
        return new Draft(engine, encoding);
    }

    /**
     * Waits for a message from a task or {@link TaskId#ANY}, with a tag or {@link #ANY_TAG}, and
     * returns it.
     */
    public Message receive(TaskId source, int tag) throws InterruptedException {
        return new Message(engine.receive(source.number(), tag, Engine.CURRENT_CONTEXT, -1));
    }

    /** Waits for a message until the limit expires. The result is empty if none has arrived. */
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

    /**
     * Sends a received message on to a task, with all of its items, however far it is read.
     *
     * @throws PvmException {@link Code#NO_SUCH_BUF} if the message is closed
     */
    public void forward(Message message, TaskId task, int tag) {
        engine.forward(message.incoming(), task.number(), tag, Engine.CURRENT_CONTEXT);
    }

    /** Returns a message that has arrived already, if there is one. */
    public Optional<Message> poll(TaskId source, int tag) {
        return Optional.ofNullable(engine.poll(source.number(), tag, Engine.CURRENT_CONTEXT)).map(Message::new);
    }

    /**
     * Returns a future of the next message that matches. Cancelling it loses no message. If the
     * machine fails, the future completes with a {@link PvmException}.
     *
     * <p>Dependents of the future run on threads of the library. There is always a free one, so a
     * dependent may itself wait for messages.
     */
    public CompletableFuture<Message> receiveAsync(TaskId source, int tag) {
        return receiveAsync(source, tag, Dependents.DEFAULT);
    }

    /**
     * Returns a future whose dependents run on the given executor. A thread of the library passes
     * them to the executor in the order in which the messages were taken. If the executor refuses
     * one, the library runs it.
     */
    public CompletableFuture<Message> receiveAsync(TaskId source, int tag, Executor executor) {
        Objects.requireNonNull(executor, "an executor is needed");
        return new Coming(engine.receiveAsync(source.number(), tag, Engine.CURRENT_CONTEXT, executor), executor);
    }

    /**
     * Drops a message that has arrived already, whatever its size. A message that a receive has
     * refused ({@link Code#OVERFLOW}, {@link Code#NO_MEM}) would otherwise be the next one again.
     *
     * @return false if there is none
     */
    public boolean discard(TaskId source, int tag) {
        return engine.discard(source.number(), tag, Engine.CURRENT_CONTEXT);
    }

    /** Returns the envelope of a message that has arrived already, without taking the message. */
    public Optional<MessageInfo> probe(TaskId source, int tag) {
        return Optional.ofNullable(engine.probe(source.number(), tag, Engine.CURRENT_CONTEXT));
    }

    // Tasks

    /** Starts tasks of a program on hosts that the machine chooses. */
    public Team spawn(String program, int count) throws InterruptedException {
        return spawn(program, List.of(), Place.ANYWHERE, count);
    }

    /**
     * Starts tasks of a program. {@link Team#failures} has the reasons for tasks that were not
     * started. The call throws if it fails as a whole, for instance because the place does not
     * exist.
     */
    public Team spawn(String program, List<String> arguments, Place place, int count) throws InterruptedException {
        return Team.of(program, engine.spawn(program, arguments, place.flags(), place.where(), count));
    }

    /** Ends a task. It is no error if the task does not exist. */
    public void kill(TaskId task) {
        signal(task, TERMINATE);
    }

    /**
     * Sends a signal of the operating system to a task. It is no error if the task does not exist.
     */
    public void signal(TaskId task, int number) {
        engine.signal(task.number(), number);
    }

    /** Returns all tasks of the machine. */
    public List<TaskInfo> tasks() {
        return engine.tasks(0);
    }

    /** Returns true if a task exists. */
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

    /**
     * Calls {@code told}, on a thread for events, when one of the tasks has ended, or at once if it
     * has ended already.
     */
    public Subscription onExit(Collection<TaskId> tasks, Consumer<TaskExit> told) {
        return session.watch.exits(tasks, told);
    }

    /** Calls {@code told} when one of the tasks of a team has ended. */
    public Subscription onExit(Team team, Consumer<TaskExit> told) {
        return onExit(team.tasks(), told);
    }

    // Hosts

    /** Returns the hosts of the machine. */
    public List<HostInfo> hosts() {
        return engine.hosts();
    }

    /**
     * Adds hosts. Each name may be followed by options, as in a line of a host file.
     *
     * @return for each host the reason if it was not added, else nothing
     */
    public List<Optional<Code>> addHosts(List<String> names) throws InterruptedException {
        return outcomes(engine.addHosts(names));
    }

    /**
     * Removes hosts, whose tasks end. The result has for each host the reason if it was not
     * removed, else nothing.
     */
    public List<Optional<Code>> deleteHosts(List<String> names) throws InterruptedException {
        return outcomes(engine.deleteHosts(names));
    }

    private static List<Optional<Code>> outcomes(int[] results) {
        return java.util.Arrays.stream(results)
                .mapToObj(n -> n < 0 ? Optional.of(Code.of(n)) : Optional.<Code>empty()).toList();
    }

    /** Calls {@code told} when one of the hosts that are in the machine now leaves it. */
    public Subscription onHostGone(Consumer<HostGone> told) {
        return session.watch.hostsGone(hosts(), told);
    }

    /** Calls {@code told} when hosts are added to the machine. */
    public Subscription onHostsAdded(Consumer<HostsAdded> told) {
        return session.watch.hostsAdded(told);
    }

    /** Ends the machine and all its tasks, including this process. */
    public void halt() {
        engine.halt();
    }

    // Beyond single messages

    /** Opens a tuple space, and makes it with the default options if there is none. */
    public Space space(String name) throws InterruptedException {
        return Space.openOrCreate(engine, name, Space.Options.DEFAULT);
    }

    /**
     * Opens a tuple space that exists.
     *
     * @throws PvmException {@link Code#NOT_FOUND} if there is none
     */
    public Space openSpace(String name) throws InterruptedException {
        return Space.open(engine, name);
    }

    /**
     * Makes a tuple space.
     *
     * @throws PvmException {@link Code#EXISTS} if there is one; {@link Code#NO_BUF} if the directory of
     *     a durable one cannot be used
     */
    public Space createSpace(String name, Space.Options options) throws InterruptedException {
        return Space.create(engine, name, options);
    }

    /** Deletes a tuple space with all that is in it. Who waits in it gets {@link Code#NOT_FOUND}. */
    public void deleteSpace(String name) throws InterruptedException {
        Space.open(engine, name).delete();
    }

    /** Returns the registry of named messages, which all tasks share. */
    public Registry registry() {
        return new Registry(engine);
    }

    /**
     * Exposes new memory, all 0, under a number that this task chooses. All tasks of the machine
     * may read it with {@link Memory} and, if it is {@code writable}, write it.
     *
     * @throws PvmException {@link Code#ALREADY} if the number is in use, {@link Code#NO_MEM}, or
     *     {@link Code#NOT_IMPL} with the wire engine, whose tasks have no shared memory
     */
    public Exposed expose(int number, long bytes, boolean writable) {
        return new Exposed(memory(self(), number), engine.expose(number, bytes, writable), bytes, writable);
    }

    /**
     * Returns the memory that a task exposes under a number. This call itself does not check that
     * it exists.
     */
    public Memory memory(TaskId owner, int number) {
        return new Memory(engine, owner, number);
    }

    /** Joins a group. */
    public Group join(String group) {
        return new Group(engine, group, engine.join(group));
    }

    /** Makes a farm of {@code workers} tasks of a program. {@link Farm#run} starts them. */
    public Farm farm(String program, int workers) {
        return new Farm(this, program, workers);
    }

    // Traces

    /**
     * Puts a mark with a value into the trace. This and the next two have no effect while nobody
     * records. Names are kept: use few different ones.
     */
    public void mark(String name, long value) {
        engine.mark(Objects.requireNonNull(name), value);
    }

    /** Says what the program does from now on; null ends that. */
    public void state(String name) {
        engine.state(name);
    }

    /** Says how far the program is: {@code done} of {@code total}. */
    public void progress(String text, long done, long total) {
        engine.progress(Objects.requireNonNull(text), done, total);
    }

    /** Leaves the machine if this was the last connection. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            session.close();
        }
    }

    /** Leaves the machine at once. Calls through other connections of this process then fail. */
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
