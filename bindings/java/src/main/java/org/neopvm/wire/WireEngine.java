// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.nio.ByteBuffer;
import java.util.Arrays;
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

/**
 * A task in straight Java: a client of the host's local socket, without a native library and without shared memory.
 * The host starts a process that enrols for it and does what it is asked over that socket
 * (crates/pvm-wire/src/proxy.rs), so all that other tasks can do this one can, too; only slower.
 */
public final class WireEngine implements Engine {
    private static final int SEND = 3;
    private static final int RECEIVE = 5;
    private static final int PROBE = 6;
    private static final int JOIN = 8;
    private static final int LEAVE_GROUP = 9;
    private static final int MEMBERS = 10;
    private static final int FREEZE = 11;
    private static final int BARRIER = 12;
    private static final int WHEN_FULL = 13;
    private static final int LEAVE = 14;
    private static final int DISCARD = 17;
    private static final int SAY = 18;
    private static final int MARK = 1;
    private static final int STATE = 2;
    private static final int PROGRESS = 3;

    private final Connection connection;
    private final Machine machine;
    private final Memories memories;
    private final Host.Welcome welcome;
    private final AtomicBoolean left = new AtomicBoolean();

    WireEngine(Enrolment enrolment) {
        connection = enrolment.connection();
        welcome = enrolment.welcome();
        machine = new Machine(connection, welcome);
        memories = new Memories(connection);
    }

    /**
     * Becomes a task of the machine that {@code PVMSOCK}, or {@code PVM_TMP} and {@code PVM_VMID}, name, as libpvm3
     * does. {@code PVM_SPILL} says what sends do that find no room.
     *
     * @throws PvmException {@link Code#SYS_ERR} if no daemon answers, {@link Code#BAD_VERSION}
     */
    public static Engine open() {
        WireEngine engine = new WireEngine(Enrolment.open());
        int policy = List.of("spill", "block", "error").indexOf(System.getenv().getOrDefault("PVM_SPILL", ""));
        if (policy > 0) {
            engine.ask(new Writer().u16(WHEN_FULL).i32(policy)).number("PVM_SPILL");
        }
        return engine;
    }

    private Answer ask(Writer ask) {
        return connection.ask(ask).await();
    }

    /** The context that is meant by a number. */
    private int meant(int context) {
        return context == CURRENT_CONTEXT ? welcome.context() : context;
    }

    @Override
    public String name() {
        return "wire";
    }

    @Override
    public int tid() {
        return welcome.tid();
    }

    @Override
    public int parent() {
        return welcome.parent() == 0 ? Code.NO_PARENT.number() : welcome.parent();
    }

    @Override
    public void leave() {
        if (left.getAndSet(true)) {
            return;
        }
        try {
            ask(new Writer().u16(LEAVE));
        } catch (PvmException e) {
            // The connection is gone, and with it the task.
        } finally {
            connection.close();
        }
    }

    @Override
    public boolean isLost() {
        return connection.isLost();
    }

    @Override
    public Outgoing create(Encoding encoding) {
        if (connection.isLost()) {
            throw new PvmException(Code.SYS_ERR, "task t" + Integer.toHexString(tid()) + " has left the machine");
        }
        return new WireOutgoing(encoding);
    }

    @Override
    public void send(Outgoing message, int tid, int tag, int context) {
        Writer ask = new Writer().u16(SEND).i32(1).i32(tid).i32(meant(context)).i32(tag);
        Answer answer = send(message, ask);
        if (!answer.isDone()) {
            answer.done("sending to t" + Integer.toHexString(tid) + " with tag " + tag);
        }
    }

    @Override
    public void multicast(Outgoing message, int[] tids, int tag, int context) {
        own(message).checkOpen();
        int[] others = Arrays.stream(tids).filter(tid -> tid != tid()).distinct().toArray();
        // A message to one task is that task's alone; to nobody it is one all the same.
        if (others.length > 0) {
            Writer ask = new Writer().u16(SEND).ints(others).i32(meant(context)).i32(tag);
            send(message, ask).done("sending to " + others.length + " tasks with tag " + tag);
        }
    }

    private Answer send(Outgoing message, Writer ask) {
        return own(message).send(content -> {
            content.envelope().write(ask);
            // Until the answer, so that nobody packs over what is being sent.
            return connection.ask(ask, content).await();
        });
    }

    @Override
    public void forward(Incoming message, int tid, int tag, int context) {
        if (!(message instanceof WireIncoming own)) {
            throw new PvmException(Code.NO_SUCH_BUF, "sending a message of another engine");
        }
        WireOutgoing.Content content = own.content();
        Writer ask = new Writer().u16(SEND).i32(1).i32(tid).i32(meant(context)).i32(tag);
        content.envelope().write(ask);
        connection.ask(ask, content).await().done("sending the " + message.info() + " to t" + Integer.toHexString(tid));
    }

    static WireOutgoing own(Outgoing message) {
        if (message instanceof WireOutgoing own) {
            return own;
        }
        throw new PvmException(Code.NO_SUCH_BUF, "sending a message of another engine");
    }

    private Pending receiving(int source, int tag, int context, long limitNs) {
        Writer ask = new Writer().u16(RECEIVE).i32(meant(context)).i32(source).i32(tag).i64(limitNs);
        return connection.askTaking(ask);
    }

    private static String what(int source, int tag) {
        String from = source == -1 ? "anybody" : "t" + Integer.toHexString(source);
        return "receiving from " + from + " with " + (tag == -1 ? "any tag" : "tag " + tag);
    }

    @Override
    public Incoming poll(int source, int tag, int context) {
        return receiving(source, tag, context, 0).await().message(() -> what(source, tag));
    }

    @Override
    public Incoming receive(int source, int tag, int context, long limitNs) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException(what(source, tag));
        }
        return taken(receiving(source, tag, context, limitNs), source, tag);
    }

    /** Waits for the message of a question. */
    private Incoming taken(Pending question, int source, int tag) throws InterruptedException {
        try {
            return question.awaitInterruptibly().message(() -> what(source, tag));
        } catch (InterruptedException e) {
            connection.tell(question.id(), new Writer().u16(Connection.CANCEL));
            Incoming message = question.await().message(() -> what(source, tag));
            if (message == null) {
                throw e;
            }
            // The message was ours already: it must not be lost.
            Thread.currentThread().interrupt();
            return message;
        }
    }

    /** Both questions are asked at once: the answers take the way to the proxy and back once, not twice. */
    @Override
    public Incoming exchange(Outgoing message, int tid, int tag, int context, int replyTag, long limitNs)
            throws InterruptedException {
        if (Thread.currentThread().isInterrupted()) {
            return Engine.super.exchange(message, tid, tag, context, replyTag, limitNs);
        }
        // It stays open until the answer, as its bytes may not all be written yet.
        try (message) {
            Pending[] asked = own(message).send(content -> {
                Writer ask = new Writer().u16(SEND).i32(1).i32(tid).i32(meant(context)).i32(tag);
                content.envelope().write(ask);
                Pending sent = connection.ask(ask, content);
                return new Pending[] {sent, receiving(ANY, replyTag, context, limitNs)};
            });
            Incoming reply = taken(asked[1], ANY, replyTag);
            Answer sent = asked[0].await();
            if (reply == null && !sent.isDone()) {
                sent.done("sending to t" + Integer.toHexString(tid) + " with tag " + tag);
            }
            return reply;
        }
    }

    @Override
    public boolean discard(int source, int tag, int context) {
        Writer ask = new Writer().u16(DISCARD).i32(meant(context)).i32(source).i32(tag);
        return ask(ask).number("discarding a message") != 0;
    }

    @Override
    public MessageInfo probe(int source, int tag, int context) {
        Answer answer = ask(new Writer().u16(PROBE).i32(meant(context)).i32(source).i32(tag));
        Reader told = answer.probed("probing");
        if (told == null) {
            return null;
        }
        Envelope found = Envelope.read(told);
        return new MessageInfo(found.source(), found.tag(), found.context(), found.kind(), told.i64());
    }

    @Override
    public CompletableFuture<Incoming> receiveAsync(int source, int tag, int context, Executor executor) {
        return new Arrival(connection, receiving(source, tag, context, -1), what(source, tag), executor);
    }

    @Override
    public int[] spawn(String program, List<String> arguments, int flags, String where, int count)
            throws InterruptedException {
        return machine.spawn(program, arguments, flags, where, count);
    }

    @Override
    public void signal(int tid, int number) {
        machine.signal(tid, number);
    }

    @Override
    public void notify(int kind, int tag, int context, int[] tids, int count) {
        machine.notify(kind, tag, meant(context), tids, count);
    }

    @Override
    public List<HostInfo> hosts() {
        return machine.hosts();
    }

    @Override
    public List<TaskInfo> tasks(int where) {
        return machine.tasks(where);
    }

    @Override
    public int[] addHosts(List<String> names) throws InterruptedException {
        return machine.changeHosts(Host.ADD_HOSTS, names);
    }

    @Override
    public int[] deleteHosts(List<String> names) throws InterruptedException {
        return machine.changeHosts(Host.DELETE_HOSTS, names);
    }

    @Override
    public void halt() {
        machine.halt();
    }

    @Override
    public int put(String name, Outgoing message, int flags) {
        return machine.put(name, own(message), flags);
    }

    @Override
    public Incoming get(String name, int index, int flags) throws InterruptedException {
        return machine.get(name, index, flags);
    }

    @Override
    public void delete(String name, int index) {
        machine.delete(name, index);
    }

    @Override
    public int join(String group) {
        return ask(new Writer().u16(JOIN).text(group)).number("joining group " + group);
    }

    @Override
    public void leaveGroup(String group) {
        ask(new Writer().u16(LEAVE_GROUP).text(group)).done("leaving group " + group);
    }

    @Override
    public int[] members(String group) {
        return ask(new Writer().u16(MEMBERS).text(group)).members("listing group " + group);
    }

    @Override
    public void barrier(String group, int count) throws InterruptedException {
        String what = "waiting at the barrier of group " + group;
        connection.askPatiently(new Writer().u16(BARRIER).text(group).i32(count), false, what).done(what);
    }

    @Override
    public int freeze(String group, int size) throws InterruptedException {
        String what = "freezing group " + group;
        return connection.askPatiently(new Writer().u16(FREEZE).text(group).i32(size), false, what).number(what);
    }

    @Override
    public Exposure expose(int number, long bytes, boolean writable) {
        throw new PvmException(Code.NOT_IMPL, "exposing memory " + Integer.toUnsignedString(number)
                + " of a task without shared memory (engine wire), which reaches that of others;"
                + " the engine native (Java 22, libpvm3) exposes it");
    }

    @Override
    public MemoryInfo exposed(int tid, int number) {
        return memories.exposed(tid, number);
    }

    @Override
    public void getMemory(int tid, int number, long offset, ByteBuffer into) {
        memories.get(tid, number, offset, into);
    }

    @Override
    public void putMemory(int tid, int number, long offset, ByteBuffer from) {
        memories.put(tid, number, offset, from);
    }

    @Override
    public long addMemory(int tid, int number, long offset, int bytes, long add) {
        return memories.add(tid, number, offset, bytes, add);
    }

    @Override
    public long exchangeMemory(int tid, int number, long offset, int bytes, long expected, long wanted) {
        return memories.exchange(tid, number, offset, bytes, expected, wanted);
    }

    @Override
    public int newContext() {
        return machine.newContext();
    }

    @Override
    public void freeContext(int context) {
        machine.freeContext(context);
    }

    // The proxy has the trace ring, and knows whether anybody records.

    @Override
    public void mark(String name, long value) {
        say(MARK, name, value, 0);
    }

    @Override
    public void state(String name) {
        say(STATE, name == null ? "" : name, 0, 0);
    }

    @Override
    public void progress(String text, long done, long total) {
        say(PROGRESS, text, done, total);
    }

    private void say(int what, String name, long value, long total) {
        connection.say(new Writer().u16(SAY).u16(what).text(name).i64(value).i64(total));
    }
}
