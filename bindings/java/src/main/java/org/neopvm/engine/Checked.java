// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

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

/**
 * An engine with its arguments checked, so that nonsense is answered alike whatever carries the calls. Names are refused
 * that C would cut or that would arrive as others.
 */
final class Checked implements Engine {
    /** Names and arguments of one call have no more chars together: they go to the daemon in one frame. */
    private static final int CHARS_MAX = 4 << 20;

    private final Engine engine;
    private final AtomicBoolean left = new AtomicBoolean();

    Checked(Engine engine) {
        this.engine = engine;
        Dependents.DEFAULT.use();
    }

    private static PvmException bad(String what) {
        return new PvmException(Code.BAD_PARAM, what);
    }

    /** Refuses what could not go to the daemon. */
    private static void bound(long chars, String what) {
        if (chars > CHARS_MAX) {
            throw new PvmException(Code.OVERFLOW, what + " with names of " + chars + " chars, more than " + CHARS_MAX);
        }
    }

    private static long chars(List<String> texts) {
        return texts.stream().mapToLong(String::length).sum();
    }

    private static String name(String name, int index) {
        bound(name.length(), "a named message");
        Texts.check(name, "a named message under");
        if (name.isEmpty() || index < 0) {
            throw bad("the message named '" + name + "'");
        }
        return name;
    }

    private static String group(String name) {
        bound(name.length(), "a group");
        Texts.check(name, "a group named by");
        if (name.isEmpty()) {
            throw new PvmException(Code.NULL_GROUP, "a group without a name");
        }
        return name;
    }

    private static int sendable(int tag) {
        if (tag < 0) {
            throw bad("sending with tag " + tag);
        }
        return tag;
    }

    @Override
    public String name() {
        return engine.name();
    }

    @Override
    public int tid() {
        return engine.tid();
    }

    @Override
    public int parent() {
        return engine.parent();
    }

    @Override
    public void leave() {
        try {
            engine.leave();
        } finally {
            if (!left.getAndSet(true)) {
                Dependents.DEFAULT.leave();
            }
        }
    }

    @Override
    public boolean isLost() {
        return engine.isLost();
    }

    @Override
    public boolean isLostNow() {
        return engine.isLostNow();
    }

    @Override
    public Outgoing create(Encoding encoding) {
        return engine.create(encoding);
    }

    @Override
    public void send(Outgoing message, int tid, int tag, int context) {
        engine.send(message, receiver(tid), sendable(tag), context);
    }

    @Override
    public void sendLast(Outgoing message, int tid, int tag, int context) {
        if (tid <= 0 || tag < 0) {
            message.close();
        }
        engine.sendLast(message, receiver(tid), sendable(tag), context);
    }

    private static int receiver(int tid) {
        if (tid <= 0) {
            throw bad("sending to " + (tid == ANY ? "any task" : "task number " + tid));
        }
        return tid;
    }

    @Override
    public void multicast(Outgoing message, int[] tids, int tag, int context) {
        for (int tid : tids) {
            receiver(tid);
        }
        engine.multicast(message, tids, sendable(tag), context);
    }

    @Override
    public void forward(Incoming message, int tid, int tag, int context) {
        engine.forward(message, receiver(tid), sendable(tag), context);
    }

    @Override
    public Incoming poll(int source, int tag, int context) {
        return engine.poll(source, tag, context);
    }

    @Override
    public Incoming receive(int source, int tag, int context, long limitNs) throws InterruptedException {
        return engine.receive(source, tag, context, limitNs);
    }

    @Override
    public Incoming exchange(Outgoing message, int tid, int tag, int context, int replyTag, long limitNs)
            throws InterruptedException {
        return engine.exchange(message, receiver(tid), sendable(tag), context, replyTag, limitNs);
    }

    @Override
    public boolean discard(int source, int tag, int context) {
        return engine.discard(source, tag, context);
    }

    @Override
    public MessageInfo probe(int source, int tag, int context) {
        return engine.probe(source, tag, context);
    }

    @Override
    public CompletableFuture<Incoming> receiveAsync(int source, int tag, int context, Executor executor) {
        if (executor != null) {
            Dependents.DEFAULT.begin();
        }
        return engine.receiveAsync(source, tag, context, executor);
    }

    @Override
    public int[] spawn(String program, List<String> arguments, int flags, String where, int count)
            throws InterruptedException {
        bound(chars(arguments) + program.length() + (where == null ? 0 : where.length()), "spawning");
        String what = "spawning " + program;
        Texts.check(program, "spawning a program named by");
        arguments.forEach(argument -> Texts.check(argument, what + " with"));
        if (where != null) {
            Texts.check(where, what + " at");
        }
        if (count < 1) {
            throw bad(what + ", " + count + " of it");
        }
        return engine.spawn(program, arguments, flags, where, count);
    }

    @Override
    public void signal(int tid, int number) {
        engine.signal(tid, number);
    }

    @Override
    public void notify(int kind, int tag, int context, int[] tids, int count) {
        if (count < -1) {
            throw bad("asking for " + count + " notices");
        }
        engine.notify(kind, tag, context, tids, count);
    }

    @Override
    public List<HostInfo> hosts() {
        return engine.hosts();
    }

    @Override
    public List<TaskInfo> tasks(int where) {
        return engine.tasks(where);
    }

    @Override
    public int[] addHosts(List<String> names) throws InterruptedException {
        bound(chars(names), "adding hosts");
        names.forEach(name -> Texts.check(name, "adding a host named by"));
        return names.isEmpty() ? new int[0] : engine.addHosts(names);
    }

    @Override
    public int[] deleteHosts(List<String> names) throws InterruptedException {
        bound(chars(names), "removing hosts");
        names.forEach(name -> Texts.check(name, "removing a host named by"));
        return names.isEmpty() ? new int[0] : engine.deleteHosts(names);
    }

    @Override
    public void halt() {
        engine.halt();
    }

    @Override
    public int put(String name, Outgoing message, int flags) {
        return engine.put(name(name, 0), message, flags);
    }

    @Override
    public Incoming get(String name, int index, int flags) throws InterruptedException {
        return engine.get(name(name, index), index, flags);
    }

    @Override
    public void delete(String name, int index) {
        engine.delete(name(name, index), index);
    }

    @Override
    public int join(String group) {
        return engine.join(group(group));
    }

    @Override
    public void leaveGroup(String group) {
        engine.leaveGroup(group(group));
    }

    @Override
    public int[] members(String group) {
        return engine.members(group(group));
    }

    @Override
    public void barrier(String group, int count) throws InterruptedException {
        engine.barrier(group(group), count);
    }

    @Override
    public int freeze(String group, int size) throws InterruptedException {
        return engine.freeze(group(group), size);
    }

    @Override
    public Exposure expose(int number, long bytes, boolean writable) {
        if (bytes <= 0) {
            throw bad("exposing " + bytes + " bytes");
        }
        return engine.expose(number, bytes, writable);
    }

    @Override
    public MemoryInfo exposed(int tid, int number) {
        Reach.checkOwner(tid, number);
        return engine.exposed(tid, number);
    }

    @Override
    public void getMemory(int tid, int number, long offset, ByteBuffer into) {
        int bytes = into.remaining();
        Reach.checkPlace(tid, number, offset);
        if (into.isReadOnly()) {
            throw bad(Reach.what("reading", bytes, offset, tid, number) + " into a buffer that is only read");
        }
        try {
            engine.getMemory(tid, number, offset, into);
        } catch (PvmException e) {
            throw Reach.explained(engine, tid, number, Reach.what("reading", bytes, offset, tid, number), e);
        }
    }

    @Override
    public void putMemory(int tid, int number, long offset, ByteBuffer from) {
        int bytes = from.remaining();
        Reach.checkPlace(tid, number, offset);
        try {
            engine.putMemory(tid, number, offset, from);
        } catch (PvmException e) {
            throw Reach.explained(engine, tid, number, Reach.what("writing", bytes, offset, tid, number), e);
        }
    }

    @Override
    public long addMemory(int tid, int number, long offset, int bytes, long add) {
        Reach.checkWord(tid, number, offset, bytes);
        try {
            return engine.addMemory(tid, number, offset, bytes, add);
        } catch (PvmException e) {
            throw Reach.explained(engine, tid, number, Reach.what("changing", bytes, offset, tid, number), e);
        }
    }

    @Override
    public long exchangeMemory(int tid, int number, long offset, int bytes, long expected, long wanted) {
        Reach.checkWord(tid, number, offset, bytes);
        try {
            return engine.exchangeMemory(tid, number, offset, bytes, expected, wanted);
        } catch (PvmException e) {
            throw Reach.explained(engine, tid, number, Reach.what("changing", bytes, offset, tid, number), e);
        }
    }

    @Override
    public int newContext() {
        return engine.newContext();
    }

    @Override
    public void freeContext(int context) {
        engine.freeContext(context);
    }

    @Override
    public void mark(String name, long value) {
        engine.mark(said(name, "a mark"), value);
    }

    @Override
    public void state(String name) {
        engine.state(name == null ? null : said(name, "a state"));
    }

    @Override
    public void progress(String text, long done, long total) {
        engine.progress(said(text, "progress"), done, total);
    }

    /** The statements of a program about itself. */
    private static String said(String text, String what) {
        bound(text.length(), what);
        Texts.check(text, what + " named");
        return text;
    }
}
