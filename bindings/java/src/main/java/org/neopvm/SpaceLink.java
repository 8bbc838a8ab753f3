// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Kind;
import org.neopvm.engine.Outgoing;

/**
 * The requests of this process to one tuple space, in messages to its servers ({@code pvm_tuples::frames}).
 *
 * <p>Each request has a number and is done once, whoever is the primary server. A request that was not answered is sent
 * again, and when the primary has ended the machine's named messages say who is the next one.
 */
final class SpaceLink {
    /** The beginning of the name under which the entries of a space are. */
    private static final String NAMES = "neopvm.space:";
    static final int CONTEXT = 0x7ec070b1;
    private static final int TO_SERVER = 0x40000000;
    private static final int GONE = 0x40000001;
    /** The machine, as the sender of a notice. */
    private static final int NOTICE_SOURCE = 0x80000000;
    private static final int HOST_MAX = 0xfff;
    private static final int TASK_EXIT = 1;
    private static final int FIRST_AVAILABLE = 8;
    /** Bytes of a frame from which on its tuple may lie behind it. */
    private static final int LARGE_BYTES = 16 << 10;
    /** A waiting request looks so often whether its server has ended. */
    private static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long AGAIN_NS = TimeUnit.SECONDS.toNanos(2);
    private static final long AGAIN_MAX_NS = TimeUnit.SECONDS.toNanos(60);
    /** A space whose primary has ended and whose copies have said nothing for so long is lost. */
    private static final long LOST_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long LOOK_AGAIN_MS = 10;
    /** A request that was cancelled and is not answered within this is left behind: its caller waits no longer. */
    static final long PATIENCE_MS = 500;
    private static final long PATIENCE_NS = TimeUnit.MILLISECONDS.toNanos(PATIENCE_MS);
    /** Frames of a server: of an operation's end, of a space that it does not hold, and of a refusal. */
    private static final int ANSWER = 1;
    private static final int ELSEWHERE = 2;
    static final int REFUSED = 5;
    /** Frames of a client: the end of a wait, a deletion, and a request that nobody waits for. */
    private static final int CANCEL = 2;
    private static final int DELETE = 4;
    private static final int WITHDRAW = 6;
    /** A frame that says which requests are open; the answers to all others have come. */
    private static final int SETTLE = 8;
    /** After so many requests, and twice as many as are open, the server is told which ones are open. */
    private static final int SETTLE_EVERY = 256;
    /** Operations. */
    private static final int FIND = 2;
    private static final int COUNT = 3;
    private static final int GATHER = 4;

    /** The state that the tasks of this process share. */
    static final class Shared {
        /** Requests count up, whatever their space. */
        final AtomicLong number = new AtomicLong();
        final Set<Integer> ended = ConcurrentHashMap.newKeySet();
        final Set<Integer> watched = ConcurrentHashMap.newKeySet();
        /** Servers that were asked something. Nothing else is an answer: any task can send one. */
        final Set<Integer> asked = ConcurrentHashMap.newKeySet();
        final Map<Long, SpaceLink> links = new ConcurrentHashMap<>();
    }

    private static final Map<Engine, Shared> SHARED = new WeakHashMap<>();

    /** The servers of a space. */
    record Entry(long space, int primary, int copies, boolean deleted, String directory) {}

    /** An answer of a server. */
    record Answer(int kind, Row row, long claim, long count, List<Row> rows, int reason) {
        static final int DONE = 1;
        static final int NOTHING = 2;
        static final int FOUND = 3;
        static final int COUNTED = 4;
        static final int GATHERED = 5;
        static final int FAILED = 6;
    }

    private final Engine engine;
    private final Shared shared;
    private final String name;
    private final long space;
    private final ConcurrentSkipListSet<Long> open = new ConcurrentSkipListSet<>();
    /** What is still to be said of requests that nobody waits for any more, by number. They stay open until then. */
    private final Map<Long, List<byte[]>> leftBehind = new ConcurrentHashMap<>();
    private volatile int primary;
    /** The number of requests since the server was told which ones are open. */
    private int begun;

    private SpaceLink(Engine engine, Shared shared, String name, Entry entry) {
        this.engine = engine;
        this.shared = shared;
        this.name = name;
        this.space = entry.space();
        this.primary = entry.primary();
    }

    static Shared shared(Engine engine) {
        synchronized (SHARED) {
            return SHARED.computeIfAbsent(engine, ignored -> new Shared());
        }
    }

    /** The link to the space of an entry. */
    static SpaceLink to(Engine engine, String name, Entry entry) {
        Shared shared = shared(engine);
        SpaceLink link =
                shared.links.computeIfAbsent(entry.space(), ignored -> new SpaceLink(engine, shared, name, entry));
        link.watch(entry.primary());
        return link;
    }

    long space() {
        return space;
    }

    /** The last entry of a space; null if there is none. */
    static Entry latest(Engine engine, String name) throws InterruptedException {
        Entry last = null;
        int from = 0;
        for (;;) {
            try (Incoming message = engine.get(NAMES + name, from, FIRST_AVAILABLE)) {
                if (message == null) {
                    return last;
                }
                Entry entry = entry(message);
                last = entry == null ? last : entry;
                int index = index(message, from);
                if (index == Integer.MAX_VALUE) {
                    return last;
                }
                from = index + 1;
            }
        }
    }

    /**
     * The entry that a message is; null for anything else that a task has put under a space's name. An entry names tasks,
     * and whoever has put it is the primary.
     */
    private static Entry entry(Incoming message) {
        try {
            ByteBuffer bytes = bytes(message);
            long space = bytes.getLong();
            int primary = bytes.getInt();
            int copies = bytes.getInt();
            boolean named = isTask(primary) && message.info().source() == primary;
            if (copies < 0 || copies > bytes.remaining() / Integer.BYTES) {
                return null;
            }
            for (int i = 0; i < copies; i++) {
                named &= isTask(bytes.getInt());
            }
            // Options: copies, limit, what is done when it is full, the loss window. Then the owner.
            bytes.position(bytes.position() + Byte.BYTES + Long.BYTES + Short.BYTES + 2 * Integer.BYTES);
            int deleted = bytes.get();
            // Where it is on disk, and its generation there.
            String directory = text(bytes);
            bytes.position(bytes.position() + Long.BYTES);
            boolean whole = (deleted == 0 || deleted == 1) && !bytes.hasRemaining();
            return named && whole ? new Entry(space, primary, copies, deleted != 0, directory) : null;
        } catch (BufferUnderflowException | IllegalArgumentException | PvmException e) {
            return null;
        }
    }

    /** True for a number that can name a task: a host, a number there, and no flag. */
    private static boolean isTask(int tid) {
        return tid > 0 && tid >> 18 > 0 && tid >> 18 <= HOST_MAX && (tid & 0x3ffff) != 0;
    }

    /** Words behind the number of their bytes. */
    static String text(ByteBuffer bytes) {
        int size = bytes.getInt();
        if (size < 0 || size > bytes.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] text = new byte[size];
        bytes.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    static ByteBuffer bytes(Incoming message) {
        byte[] bytes = new byte[Math.toIntExact(message.left())];
        message.unpack(Kind.BYTE, bytes, 0, bytes.length, 1);
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    static void send(Engine engine, int to, byte[] frame) {
        shared(engine).asked.add(to);
        engine.sendLast(packed(engine, frame), to, TO_SERVER, CONTEXT);
    }

    private static Outgoing packed(Engine engine, byte[] frame) {
        Outgoing message = engine.create(Encoding.RAW);
        message.pack(Kind.BYTE, frame, 0, frame.length, 1);
        return message;
    }

    /** True for a message of a server that was asked something. */
    static boolean isAnswer(Engine engine, Incoming message) {
        return message != null && shared(engine).asked.contains(message.info().source());
    }

    static int answerTag(long number) {
        return (int) (number & 0x3fffffff);
    }

    private void watch(int task) {
        if (shared.watched.add(task)) {
            engine.notify(TASK_EXIT, GONE, CONTEXT, new int[] {task}, 1);
        }
    }

    private void takeNotices() {
        for (;;) {
            try (Incoming notice = engine.poll(Engine.ANY, GONE, CONTEXT)) {
                if (notice == null) {
                    return;
                }
                // Any task can send a message with this tag.
                if (notice.info().source() == NOTICE_SOURCE) {
                    shared.ended.add(notice.unpackInt(Kind.INT));
                }
            }
        }
    }

    /** Does an operation. A limit below 0 has no end; an interrupt ends the wait, and what has come of it by then counts. */
    Answer perform(byte[] op, long limitNs) throws InterruptedException {
        long number;
        byte[] settled;
        synchronized (this) {
            number = shared.number.incrementAndGet();
            settled = settled(number);
            open.add(number);
        }
        if (settled != null) {
            send(engine, primary, settled);
        }
        try {
            return new Request(number, op, limitNs).run();
        } finally {
            if (!leftBehind.containsKey(number)) {
                open.remove(number);
            }
        }
    }

    /**
     * From time to time, while an earlier request waits, a frame that says which requests below this one are open. The
     * server would keep the answers to all later ones otherwise.
     */
    private byte[] settled(long below) {
        begun++;
        if (begun < SETTLE_EVERY || open.isEmpty() || begun < 2 * open.size()) {
            return null;
        }
        begun = 0;
        Long[] numbers = open.toArray(Long[]::new);
        Tuples.Bytes frame = new Tuples.Bytes().u16(SETTLE).u64(space).u64(below).u32(numbers.length);
        for (long number : numbers) {
            frame.u64(number);
        }
        return frame.toByteArray();
    }

    private byte[] frame(int kind, long number) {
        return new Tuples.Bytes().u16(kind).u64(space).u64(number).toByteArray();
    }

    /** Takes in what has been answered to requests that nobody waits for any more. */
    private void settleLeftBehind() {
        for (long number : leftBehind.keySet()) {
            try (Incoming message = engine.poll(Engine.ANY, answerTag(number), CONTEXT)) {
                if (isAnswer(engine, message) && isSettledBy(SpaceLink.bytes(message))) {
                    leftBehind.remove(number);
                    open.remove(number);
                }
            }
        }
    }

    /** True for the last answer: what a look for tuples has found comes before its withdrawal is heard of. */
    private static boolean isSettledBy(ByteBuffer told) {
        int kind = told.remaining() > 2 * Short.BYTES + Long.BYTES - 1 ? told.getShort(0) : 0;
        int outcome = kind == 1 ? told.getShort(Short.BYTES + Long.BYTES) : Answer.FOUND;
        return kind == 5 || outcome != Answer.FOUND && outcome != Answer.GATHERED;
    }

    /** One request on its way. */
    private final class Request {
        private final long number;
        private final byte[] op;
        private final long begun = System.nanoTime();
        private final long limitNs;
        private long sent = begun;
        private long pause = AGAIN_NS;
        private boolean cancelled;
        private long cancelledAt;
        private boolean interrupted;

        /** A request for an operation; without one, to delete the space. */
        Request(long number, byte[] op, long limitNs) {
            this.number = number;
            this.op = op;
            this.limitNs = limitNs;
        }

        Answer run() throws InterruptedException {
            if (!leftBehind.isEmpty()) {
                settleLeftBehind();
            }
            sent = System.nanoTime();
            byte[] first = asked();
            for (;;) {
                Answer answer = listen(first);
                first = null;
                if (answer != null) {
                    return ended(answer);
                }
                takeNotices();
                if (shared.ended.contains(primary)) {
                    find();
                } else if (System.nanoTime() - sent >= pause) {
                    pause = Math.min(2 * pause, AGAIN_MAX_NS);
                    ask();
                }
                // Whoever does not wait for a tuple waits for the answer.
                if (limitNs > 0 && System.nanoTime() - begun >= limitNs) {
                    cancel();
                }
                if (cancelled && System.nanoTime() - cancelledAt >= PATIENCE_NS) {
                    throw leave();
                }
            }
        }

        /** Nobody waits for this request any more. What it takes later is in the space again. */
        private PvmException leave() throws InterruptedException {
            List<byte[]> asks = stillToBeSaid();
            if (!asks.isEmpty()) {
                leftBehind.put(number, asks);
                asks.forEach(ask -> send(engine, primary, ask));
            }
            if (interrupted) {
                throw new InterruptedException("a wait for a tuple");
            }
            return new PvmException(Code.D_SYS_ERR, "the server of space " + name + " does not answer: it is stopped, or cut off");
        }

        private List<byte[]> stillToBeSaid() {
            int kind = op == null ? COUNT : ByteBuffer.wrap(op).order(ByteOrder.LITTLE_ENDIAN).getShort();
            return switch (kind) {
                // It changes nothing, or is not said again.
                case COUNT -> List.of();
                case FIND, GATHER -> List.of(frame(WITHDRAW, number));
                default -> List.of(asked(), frame(CANCEL, number));
            };
        }

        private Answer ended(Answer answer) throws InterruptedException {
            if (interrupted && answer.kind() == Answer.NOTHING) {
                throw new InterruptedException("a wait for a tuple");
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            if (answer.kind() == Answer.FAILED) {
                throw failure(answer.reason());
            }
            return answer;
        }

        private void ask() {
            sent = System.nanoTime();
            send(engine, primary, asked());
            if (cancelled) {
                sendCancel();
            }
        }

        private byte[] asked() {
            if (op == null) {
                return new Tuples.Bytes().u16(DELETE).u64(number).u64(space).toByteArray();
            }
            long settled = open.first();
            Tuples.Bytes ask = new Tuples.Bytes();
            ask.u16(1).u64(space).u64(number).u64(settled).bytes(op);
            return ask.toByteArray();
        }

        private void cancel() {
            if (!cancelled) {
                cancelled = true;
                cancelledAt = System.nanoTime();
                sendCancel();
            }
        }

        private void sendCancel() {
            send(engine, primary, frame(CANCEL, number));
        }

        private long slice() {
            long now = System.nanoTime();
            long left = limitNs < 0 || cancelled ? SLICE_NS : Math.max(0, limitNs - (now - begun));
            return Math.min(SLICE_NS, left);
        }

        /** The answer, if it comes soon. What is to be asked first is null when it was asked already. */
        private Answer listen(byte[] first) throws InterruptedException {
            try (Incoming message = first == null
                    ? engine.receive(Engine.ANY, answerTag(number), CONTEXT, slice())
                    : exchanged(first)) {
                return isAnswer(engine, message) ? told(SpaceLink.bytes(message)) : null;
            } catch (InterruptedException e) {
                interrupted = true;
                cancel();
                return null;
            }
        }

        /** Asks and listens in one step. */
        private Incoming exchanged(byte[] frame) throws InterruptedException {
            shared.asked.add(primary);
            return engine.exchange(packed(engine, frame), primary, TO_SERVER, CONTEXT, answerTag(number), slice());
        }

        private Answer told(ByteBuffer frame) throws InterruptedException {
            ByteBuffer behind = null;
            ByteBuffer bytes = frame;
            if (frame.limit() >= LARGE_BYTES && frame.getInt(0) == 0) {
                int size = frame.getInt(Integer.BYTES);
                bytes = frame.slice(Long.BYTES, size).order(ByteOrder.LITTLE_ENDIAN);
                int start = (Long.BYTES + size + 15) / 16 * 16;
                behind = frame.slice(start, frame.limit() - start);
            }
            int kind = bytes.getShort();
            if (bytes.getLong() != number) {
                return null;
            }
            return switch (kind) {
                case ANSWER -> answer(bytes, behind);
                case ELSEWHERE -> elsewhere();
                case REFUSED -> new Answer(Answer.FAILED, null, 0, 0, null, bytes.getShort());
                default -> null;
            };
        }

        private Answer elsewhere() throws InterruptedException {
            find();
            return null;
        }

        /** Looks for the primary until there is one, and asks it. */
        private void find() throws InterruptedException {
            long since = System.nanoTime();
            for (;;) {
                Entry entry = uninterrupted();
                if (entry == null || entry.space() != space || entry.deleted()) {
                    throw failure(4);
                }
                if (!shared.ended.contains(entry.primary())) {
                    primary = entry.primary();
                    watch(primary);
                    leftBehind.values().forEach(asks -> asks.forEach(ask -> send(engine, primary, ask)));
                    ask();
                    return;
                }
                if (cancelled && System.nanoTime() - cancelledAt >= PATIENCE_NS) {
                    throw leave();
                }
                if (limitNs > 0 && System.nanoTime() - begun >= limitNs || interrupted) {
                    cancel();
                }
                if (entry.copies() == 0 || System.nanoTime() - since >= LOST_NS) {
                    throw new PvmException(Code.HOST_FAIL, "the servers of space " + name + " and its tuples are gone");
                }
                pause();
            }
        }

        private Entry uninterrupted() {
            for (;;) {
                try {
                    return latest(engine, name);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }

        private void pause() {
            try {
                Thread.sleep(LOOK_AGAIN_MS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }

    private static Answer answer(ByteBuffer bytes, ByteBuffer behind) {
        int kind = bytes.getShort();
        switch (kind) {
            case Answer.FOUND: {
                ByteBuffer tuple = tuple(bytes);
                long claim = bytes.getLong();
                int tries = bytes.getInt();
                Row row = Tuples.decode(behind == null ? tuple : behind, tries);
                return new Answer(kind, row, claim, 0, null, 0);
            }
            case Answer.COUNTED:
                return new Answer(kind, null, 0, bytes.getLong(), null, 0);
            case Answer.GATHERED: {
                Row[] rows = new Row[bytes.getInt()];
                for (int i = 0; i < rows.length; i++) {
                    rows[i] = Tuples.decode(tuple(bytes), 0);
                }
                return new Answer(kind, null, 0, 0, List.of(rows), 0);
            }
            case Answer.FAILED:
                return new Answer(kind, null, 0, 0, null, bytes.getShort());
            default:
                return new Answer(kind, null, 0, 0, null, 0);
        }
    }

    private static ByteBuffer tuple(ByteBuffer bytes) {
        int size = Math.toIntExact(bytes.getLong());
        ByteBuffer tuple = bytes.slice(bytes.position(), size);
        bytes.position(bytes.position() + size);
        return tuple;
    }

    /** Deletes the space with all that is in it, also one whose servers have died. */
    void delete() throws InterruptedException {
        Entry entry = latest(engine, name);
        String directory = entry == null ? "" : entry.directory();
        try {
            perform(null, -1);
        } catch (PvmException e) {
            if (e.code() == Code.HOST_FAIL) {
                forget(directory);
            } else if (e.code() == Code.NO_BUF) {
                String left = "space " + name + " is deleted, but files of it may be left in " + directory;
                throw new PvmException(e.code(), left + " on a host that kept it");
            } else {
                throw e;
            }
        }
    }

    /** Forgets a space whose servers have died. The files of a durable one would bring its tuples back. */
    private void forget(String directory) throws InterruptedException {
        if (!directory.isEmpty()) {
            String left = "the servers of space " + name + " have died; its files in " + directory + " are not deleted";
            throw new PvmException(Code.HOST_FAIL, left + ": make it again, then delete it");
        }
        Integer index = indexFrom(0);
        while (index != null) {
            engine.delete(NAMES + name, index);
            index = index == Integer.MAX_VALUE ? null : indexFrom(index + 1);
        }
    }

    /** The first index from this one on that has an entry of the space; null if there is none. */
    private Integer indexFrom(int from) throws InterruptedException {
        try (Incoming message = engine.get(NAMES + name, from, FIRST_AVAILABLE)) {
            return message == null ? null : Integer.valueOf(index(message, from));
        }
    }

    /** The index of an entry that was asked for from an index on: its tag says if it is a later one. */
    private static int index(Incoming message, int from) {
        int tag = message.info().tag();
        return tag < 0 ? ~tag : from;
    }

    /** The exception of a refusal, whose words are behind its reason. */
    static PvmException refusal(ByteBuffer told) {
        PvmException refused = failure(told.getShort());
        String words = text(told);
        return words.isEmpty() ? refused : new PvmException(refused.code(), "the disk under the space" + words);
    }

    /** The exception of a reason that a server gives. */
    static PvmException failure(int reason) {
        return switch (reason) {
            case 1 -> new PvmException(Code.OUT_OF_RES, "the space is full");
            case 2 -> new PvmException(Code.OVERFLOW, "the tuple is larger than the space may be");
            case 3 -> new PvmException(Code.NO_TASK, "the claim is over");
            case 4 -> new PvmException(Code.NOT_FOUND, "there is no such space");
            case 5 -> new PvmException(Code.EXISTS, "a space of this name exists");
            case 8 -> new PvmException(Code.NO_BUF, "the disk under the space is full, or fails");
            case 6 -> new PvmException(Code.BAD_PARAM, "a tuple that is put must not have formals");
            default -> new PvmException(Code.D_SYS_ERR, "the server of a space");
        };
    }
}
