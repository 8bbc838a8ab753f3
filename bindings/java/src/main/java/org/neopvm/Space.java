// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.neopvm.SpaceLink.Answer;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Incoming;

/**
 * An open tuple space: programs of any language put rows of typed fields into it, and take them out
 * by templates.
 *
 * <pre>{@code
 * Space space = pvm.space("work");
 * space.out("task", 7, 2.5);
 * try (Claim claim = space.claim("task", int.class, double.class)) {
 *     claim.done(Space.row("result", claim.row().getInt(1)));
 * }
 * }</pre>
 *
 * <p>{@link Field} says which types of C Java's values are. A record is a tuple as well: the simple
 * name of its class, then its components. Any thread may make any call, and a call that waits does
 * not hold the carrier of a virtual thread. An interrupt ends a wait: the call throws {@link
 * InterruptedException} and has taken nothing; if it has its tuple already, it returns it, and the
 * thread stays interrupted.
 */
public final class Space {
    private static final long DEFAULT_LIMIT = 1L << 30;
    private static final int NAME_BYTES_MAX = 128;
    private static final int SERVER_START_S = 10;
    /** So often a space may be made and deleted by others while it is opened. */
    private static final int TURNS_MAX = 100;
    private static final int ON_HOST = 1;
    private static final int COPY = 1;
    private static final int TAKE = 2;
    private static final int CLAIM = 3;

    private final SpaceLink link;
    private final String note;

    private Space(SpaceLink link, String note) {
        this.link = link;
        this.note = note;
    }

    /**
     * Returns what the server had to say about a file that this call has made a durable space of:
     * which part of it was damaged; mostly nothing.
     */
    public String note() {
        return note;
    }

    /** The effect of a put in a full space. */
    public enum WhenFull {
        /** It waits for its turn. */
        BLOCK,
        /** It fails with {@link Code#OUT_OF_RES}. */
        ERROR,
        /** Its tuple goes to a file of the server, and is taken from there in its turn. */
        SPILL
    }

    /**
     * The options of a new space. Begin with {@link #DEFAULT}, and change what is to be different:
     * {@code Options.DEFAULT.withCopies(1).withWhenFull(WhenFull.SPILL)}.
     *
     * @param copies on other hosts, 0 to 2: how many hosts may die without a loss
     * @param limitBytes of all tuples
     * @param whenFull what a put does when the space is full
     * @param owned the space is deleted when this task ends
     * @param durable a directory, or null: each server that keeps the space writes a file there on
     *     its host, and the space begins with the tuples of a file that is found there
     * @param syncEvery zero: an operation of a durable space is done when it is on the disk;
     *     otherwise, 10 ms to 60 s, the disk has it at most so much later
     */
    public record Options(
            int copies, long limitBytes, WhenFull whenFull, boolean owned, Path durable, Duration syncEvery) {
        private static final int COPIES_MAX = 2;
        private static final Duration SYNC_MIN = Duration.ofMillis(10);
        private static final Duration SYNC_MAX = Duration.ofSeconds(60);

        /** No copies, 1 GiB, puts wait, the space stays, and it is in memory only. */
        public static final Options DEFAULT =
                new Options(0, DEFAULT_LIMIT, WhenFull.BLOCK, false, null, Duration.ZERO);

        /**
         * Checks the options.
         *
         * @throws PvmException {@link Code#BAD_PARAM} for options that no space can have
         */
        public Options {
            if (copies < 0 || copies > COPIES_MAX) {
                throw refused("copies=" + copies + ": a space has 0 to 2");
            }
            if (limitBytes <= 0) {
                throw refused("limitBytes=" + limitBytes + ": a number above 0");
            }
            Objects.requireNonNull(whenFull, "whenFull");
            if (!syncEvery.isZero()) {
                if (durable == null) {
                    throw refused("syncEvery is for a durable space");
                }
                if (syncEvery.compareTo(SYNC_MIN) < 0 || syncEvery.compareTo(SYNC_MAX) > 0) {
                    throw refused("syncEvery=" + syncEvery + ": 10 ms to 60 s");
                }
            }
        }

        private static PvmException refused(String why) {
            return new PvmException(Code.BAD_PARAM, "options of a space: " + why);
        }

        /** Returns these options with so many copies on other hosts. */
        public Options withCopies(int count) {
            return new Options(count, limitBytes, whenFull, owned, durable, syncEvery);
        }

        /** Returns these options with another limit. */
        public Options withLimitBytes(long bytes) {
            return new Options(copies, bytes, whenFull, owned, durable, syncEvery);
        }

        /** Returns these options with another effect of a put in a full space. */
        public Options withWhenFull(WhenFull effect) {
            return new Options(copies, limitBytes, effect, owned, durable, syncEvery);
        }

        /** Returns these options for a space that ends with this task, or one that stays. */
        public Options withOwned(boolean isOwned) {
            return new Options(copies, limitBytes, whenFull, isOwned, durable, syncEvery);
        }

        /** Returns these options for a space that is on disk, too, in this directory. */
        public Options withDurable(Path directory) {
            return new Options(copies, limitBytes, whenFull, owned, directory, syncEvery);
        }

        /** Returns these options with a loss window. */
        public Options withSyncEvery(Duration window) {
            return new Options(copies, limitBytes, whenFull, owned, durable, window);
        }

        /** These options as a server reads them, behind the name of the space. */
        private Tuples.Bytes into(Tuples.Bytes ask) {
            byte[] directory = durable == null ? new byte[0] : text(durable.toAbsolutePath().toString());
            ask.u8(copies).u64(limitBytes).u16(whenFull.ordinal()).u32((int) milliseconds(syncEvery));
            return ask.u8(owned ? 1 : 0).u32(directory.length).bytes(directory);
        }
    }

    static Space open(Engine engine, String name) throws InterruptedException {
        SpaceLink.Entry entry = SpaceLink.latest(engine, name);
        if (entry == null || entry.deleted()) {
            throw new PvmException(Code.NOT_FOUND, "space " + name);
        }
        return new Space(SpaceLink.to(engine, name, entry), "");
    }

    static Space openOrCreate(Engine engine, String name, Options options) throws InterruptedException {
        for (int turn = 0; turn < TURNS_MAX; turn++) {
            try {
                return open(engine, name);
            } catch (PvmException e) {
                if (e.code() != Code.NOT_FOUND) {
                    throw e;
                }
            }
            try {
                return create(engine, name, options);
            } catch (PvmException e) {
                // Somebody else was quicker, or deletes it at this moment.
                if (e.code() != Code.EXISTS && e.code() != Code.NOT_FOUND) {
                    throw e;
                }
            }
            Thread.sleep(2L * Math.min(turn, 10));
        }
        String cause = "space " + name + " cannot be made: others make and delete it again and again";
        throw new PvmException(Code.D_SYS_ERR, cause);
    }

    static Space create(Engine engine, String name, Options options) throws InterruptedException {
        long number = SpaceLink.shared(engine).number.incrementAndGet();
        byte[] text = text(name);
        if (text.length == 0 || text.length > NAME_BYTES_MAX) {
            throw new PvmException(Code.BAD_PARAM, "the name of a space has 1 to 128 bytes");
        }
        Tuples.Bytes ask = new Tuples.Bytes().u16(3).u64(number).u32(text.length).bytes(text);
        int server = server(engine);
        SpaceLink.send(engine, server, options.into(ask).toByteArray());
        for (;;) {
            try (Incoming told = engine.receive(
                    Engine.ANY, SpaceLink.answerTag(number), SpaceLink.CONTEXT, 1_000_000_000L)) {
                if (SpaceLink.isAnswer(engine, told)) {
                    return opened(engine, name, SpaceLink.bytes(told));
                }
            }
            if (!isAlive(engine, server)) {
                throw new PvmException(Code.HOST_FAIL, "the server that was to make space " + name + " has ended");
            }
        }
    }

    /** The space that a server has made, or its reason why it has not. */
    private static Space opened(Engine engine, String name, ByteBuffer told) throws InterruptedException {
        if (told.getShort() == SpaceLink.REFUSED) {
            throw SpaceLink.refusal(told.position(Short.BYTES + Long.BYTES));
        }
        told.position(Short.BYTES + 2 * Long.BYTES);
        return new Space(open(engine, name).link, SpaceLink.text(told));
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static boolean isAlive(Engine engine, int task) {
        try {
            return !engine.tasks(task).isEmpty();
        } catch (PvmException e) {
            return false;
        }
    }

    /** The tuple server of this host, which is started if there is none. */
    private static int server(Engine engine) throws InterruptedException {
        int host = engine.tid() >> 18;
        int server = serverOf(engine, host);
        if (server != 0) {
            return server;
        }
        String name = engine.hosts().stream()
                .filter(one -> one.tid() >> 18 == host)
                .map(HostInfo::name)
                .findFirst()
                .orElseThrow(() -> new PvmException(Code.NO_HOST, "the host of this task"));
        int started = engine.spawn("pvmtuples", List.of("--start"), ON_HOST, name, 1)[0];
        if (started < 0) {
            throw new PvmException(Code.of(started), "no tuple server can be started on this host (pvmtuples)");
        }
        for (int i = 0; i < SERVER_START_S * 100; i++) {
            server = serverOf(engine, host);
            if (server != 0) {
                return server;
            }
            Thread.sleep(10);
        }
        throw new PvmException(Code.NO_FILE, "the tuple server of this host does not come up");
    }

    private static int serverOf(Engine engine, int host) throws InterruptedException {
        try (Incoming entry = engine.get("neopvm.tuple-servers", host, 0)) {
            if (entry == null) {
                return 0;
            }
            ByteBuffer bytes = SpaceLink.bytes(entry);
            // Nobody says that another task is a server.
            int server = bytes.remaining() == Integer.BYTES ? bytes.getInt() : 0;
            return server == entry.info().source() && isAlive(engine, server) ? server : 0;
        }
    }

    void delete() throws InterruptedException {
        link.delete();
    }

    // Putting

    /** Makes a tuple of these values, for {@link #outAll} and {@link Claim#done}. */
    public static Object[] row(Object... values) {
        return values;
    }

    /** Puts a tuple of these values, or one record. It waits while the space is full. */
    public void out(Object... values) throws InterruptedException {
        put(List.<Object[]>of(values), -1);
    }

    /**
     * Puts a tuple as {@link #out(Object...)} does.
     *
     * @return false if the space has stayed full until the limit
     */
    public boolean out(Duration limit, Object... values) throws InterruptedException {
        return put(List.<Object[]>of(values), nanoseconds(limit));
    }

    /** Puts several tuples in one step: others see all of them or none. */
    public void outAll(List<Object[]> rows) throws InterruptedException {
        put(rows, -1);
    }

    private boolean put(List<Object[]> rows, long limitNs) throws InterruptedException {
        Tuples.Bytes op = new Tuples.Bytes().u16(1);
        rows(op, rows).u8(limitNs == 0 ? 0 : 1);
        return link.perform(op.toByteArray(), limitNs).kind() == Answer.DONE;
    }

    private static Tuples.Bytes rows(Tuples.Bytes op, List<Object[]> rows) {
        op.u32(rows.size());
        for (Object[] row : rows) {
            op.tuple(Tuples.encode(row));
        }
        return op;
    }

    // Taking

    /** Takes the oldest tuple that fits, and waits for it. */
    public Row take(Object... template) throws InterruptedException {
        return find(template, TAKE, 0, -1).row();
    }

    /** Takes a tuple; the result is empty if none has come until the limit. */
    public Optional<Row> take(Duration limit, Object... template) throws InterruptedException {
        return Optional.ofNullable(find(template, TAKE, 0, nanoseconds(limit)).row());
    }

    /** Takes a tuple that a record of this class was put as. */
    public <R extends Record> R take(Class<R> kind) throws InterruptedException {
        return Tuples.record(take(Tuples.template(kind)), kind);
    }

    /** Takes a record; the result is empty if none has come until the limit. */
    public <R extends Record> Optional<R> take(Duration limit, Class<R> kind) throws InterruptedException {
        return take(limit, Tuples.template(kind)).map(row -> Tuples.record(row, kind));
    }

    /** Copies the oldest tuple that fits, and waits for it. */
    public Row read(Object... template) throws InterruptedException {
        return find(template, COPY, 0, -1).row();
    }

    /** Copies a tuple; the result is empty if none has come until the limit. */
    public Optional<Row> read(Duration limit, Object... template) throws InterruptedException {
        return Optional.ofNullable(find(template, COPY, 0, nanoseconds(limit)).row());
    }

    /**
     * Takes a tuple when one has come. Cancelling the future gives up the wait, and no tuple is
     * lost: one that has come by then is in the space again.
     */
    public CompletableFuture<Row> takeAsync(Object... template) {
        return new Taking(template);
    }

    /** A wait in a thread of its own. The tuple is claimed first, and the claim is done when the future has taken it. */
    private final class Taking extends CompletableFuture<Row> {
        private final Thread thread;

        Taking(Object[] template) {
            thread = new Thread(() -> run(template), "pvm-space");
            thread.setDaemon(true);
            thread.start();
        }

        private void run(Object[] template) {
            try {
                Answer found = find(template, CLAIM, 0, -1);
                Claim claim = new Claim(Space.this, found.row(), found.claim());
                if (complete(found.row())) {
                    claim.done();
                } else {
                    claim.giveBack();
                }
            } catch (InterruptedException | RuntimeException e) {
                completeExceptionally(e);
            }
        }

        @Override
        public boolean cancel(boolean mayInterrupt) {
            boolean cancelled = super.cancel(mayInterrupt);
            if (cancelled) {
                thread.interrupt();
            }
            return cancelled;
        }
    }

    /**
     * Takes a tuple so that it comes back if this task dies before {@link Claim#done}, and when the
     * claim is closed without that.
     */
    public Claim claim(Object... template) throws InterruptedException {
        Answer found = find(template, CLAIM, 0, -1);
        return new Claim(this, found.row(), found.claim());
    }

    /**
     * Claims a tuple; the result is empty if none has come until the limit.
     *
     * @param lease the tuple also comes back when this has passed; zero has no end
     */
    public Optional<Claim> claim(Duration limit, Duration lease, Object... template) throws InterruptedException {
        Answer found = find(template, CLAIM, milliseconds(lease), nanoseconds(limit));
        return found.row() == null
                ? Optional.empty()
                : Optional.of(new Claim(this, found.row(), found.claim()));
    }

    private Answer find(Object[] template, int how, long leaseMs, long limitNs) throws InterruptedException {
        Tuples.Bytes op = new Tuples.Bytes().u16(2).tuple(Tuples.encode(template)).u16(how);
        if (how == CLAIM) {
            op.u64(leaseMs);
        }
        op.u8(limitNs == 0 ? 0 : 1);
        // The server ends a wait by itself if it hears nothing of its end.
        op.u64(limitNs <= 0 ? 0 : limitNs / 1_000_000 + SpaceLink.PATIENCE_MS);
        return link.perform(op.toByteArray(), limitNs);
    }

    /** Returns how many tuples fit; claimed ones do not count. */
    public long count(Object... template) throws InterruptedException {
        return link.perform(new Tuples.Bytes().u16(3).tuple(Tuples.encode(template)).toByteArray(), -1).count();
    }

    /**
     * Takes all tuples that fit in one step, the oldest first; fewer if they have more than 64 MiB
     * together.
     */
    public List<Row> collect(Object... template) throws InterruptedException {
        return gather(template, 1);
    }

    /** Copies all tuples that fit, as {@link #collect} takes them. */
    public List<Row> copy(Object... template) throws InterruptedException {
        return gather(template, 0);
    }

    private List<Row> gather(Object[] template, int take) throws InterruptedException {
        Tuples.Bytes op = new Tuples.Bytes().u16(4).tuple(Tuples.encode(template)).u8(take).u64(Long.MAX_VALUE);
        return link.perform(op.toByteArray(), -1).rows();
    }

    // Claims

    void done(long claim, List<Object[]> rows) throws InterruptedException {
        link.perform(rows(new Tuples.Bytes().u16(5).u64(claim), rows).toByteArray(), -1);
    }

    void giveBack(long claim) throws InterruptedException {
        link.perform(new Tuples.Bytes().u16(6).u64(claim).toByteArray(), -1);
    }

    void renew(long claim, Duration lease) throws InterruptedException {
        link.perform(new Tuples.Bytes().u16(7).u64(claim).u64(milliseconds(lease)).toByteArray(), -1);
    }

    private static long nanoseconds(Duration limit) {
        try {
            return Math.max(0, limit.toNanos());
        } catch (ArithmeticException e) {
            return limit.isNegative() ? 0 : Long.MAX_VALUE;
        }
    }

    /** Whole milliseconds, at least one; 0 for no end. */
    private static long milliseconds(Duration lease) {
        long nanoseconds = nanoseconds(lease);
        return nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1);
    }
}
