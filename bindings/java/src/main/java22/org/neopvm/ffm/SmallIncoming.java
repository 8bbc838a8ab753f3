// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.neopvm.Code;
import org.neopvm.Encoding;
import org.neopvm.MessageInfo;
import org.neopvm.PvmException;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Kind;
import org.neopvm.wire.Small;

/**
 * A message of few items of one type, which came with the call that received it: nothing of it lies in the library. Items
 * that are wanted as what they are, are read without a lock, by moving the place of the next one. Whatever else is asked
 * for, the engine in straight Java does, which reads all types as PVM does.
 */
final class SmallIncoming implements Incoming, Lying {
    private static final VarHandle AT;
    private static final VarHandle SHORTS = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.nativeOrder());
    private static final VarHandle CHARS = MethodHandles.byteArrayViewVarHandle(char[].class, ByteOrder.nativeOrder());
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    /** In {@link #at}: the message is closed. */
    private static final int CLOSED = -1;
    /** In {@link #at}: {@link #whole} reads it. */
    private static final int GIVEN = -2;

    static {
        try {
            AT = MethodHandles.lookup().findVarHandle(SmallIncoming.class, "at", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int source;
    private final int tag;
    private final int context;
    private final boolean raw;
    /** Its items: the number of the type, and how {@code pvm_bufinfo} counts their bytes. */
    private final int type;
    private final int bytes;
    private final byte[] data;
    /** Where the next item lies, or what the two constants say. */
    private volatile int at;
    /** Guarded by this object's monitor, as is what was lent. */
    private Incoming whole;
    private Arena lent;

    SmallIncoming(int source, int tag, int context, boolean raw, int type, byte[] data, int bytes) {
        this.source = source;
        this.tag = tag;
        this.context = context;
        this.raw = raw;
        this.type = type;
        this.data = data;
        this.bytes = bytes;
    }

    /** Bytes of an item in memory. */
    static int sizeOf(int type) {
        return switch (type) {
            case 1 -> 1;
            case 2, 9 -> 2;
            case 3 -> 4;
            default -> 8;
        };
    }

    @Override
    public MessageInfo info() {
        return new MessageInfo(source, tag, context, raw ? Encoding.RAW : Encoding.DEFAULT, bytes);
    }

    /** True where items of a kind can be taken as they lie. The bytes of a call are padded, which is not for here. */
    private boolean isPlain(Kind kind) {
        if (raw) {
            return true;
        }
        return kind != Kind.BYTE && (kind == Kind.FLOAT ? type == Kind.INT.number() : type == kind.number());
    }

    /** Takes the place of so many bytes; negative if this is not the way. */
    private int claim(Kind kind, long size) {
        if (!isPlain(kind)) {
            return CLOSED;
        }
        for (;;) {
            int from = at;
            if (from < 0 || size > data.length - from) {
                return CLOSED;
            }
            if (AT.compareAndSet(this, from, from + (int) size)) {
                return from;
            }
        }
    }

    /** The message for all that is not plain, read as far as this one. */
    private synchronized Incoming whole(String what) {
        if (whole == null) {
            int from;
            do {
                from = at;
                if (from == CLOSED) {
                    throw new PvmException(Code.NO_SUCH_BUF, what + " of the " + info());
                }
                // What is closed is never given: who closes it once more would find nothing to close.
            } while (!AT.compareAndSet(this, from, GIVEN));
            whole = Small.incoming(source, tag, context, raw, type, data);
            if (from > 0) {
                int count = from / (raw ? 1 : sizeOf(type));
                switch (raw ? 1 : type) {
                    case 1 -> whole.unpack(Kind.BYTE, new byte[count], 0, count, 1);
                    case 2 -> whole.unpack(Kind.SHORT, new short[count], 0, count, 1);
                    case 3 -> whole.unpack(Kind.INT, new int[count], 0, count, 1);
                    case 6 -> whole.unpack(Kind.DOUBLE, new double[count], 0, count, 1);
                    case 8 -> whole.unpack(Kind.LONG, new long[count], 0, count, 1);
                    default -> whole.unpack(Kind.CHAR, new char[count], 0, count, 1);
                }
            }
        }
        return whole;
    }

    @Override
    public long left() {
        int from = at;
        // A short and a long count as four bytes each.
        boolean alike = raw || type == Kind.INT.number() || type == Kind.DOUBLE.number();
        return from >= 0 && alike ? data.length - from : whole("the rest").left();
    }

    @Override
    public void unpack(Kind kind, Object items, int from, int count, int stride) {
        int place = stride == 1 && count > 0 ? claim(kind, (long) count * kind.size()) : CLOSED;
        if (place < 0) {
            whole("unpacking").unpack(kind, items, from, count, stride);
        } else {
            if (kind == Kind.INT && count == 1) {
                ((int[]) items)[from] = (int) INTS.get(data, place);
            } else {
                Arrays.write(kind, MemorySegment.ofArray(data).asSlice(place), items, from, count);
            }
        }
    }

    @Override
    public int unpackInt(Kind kind) {
        int place = claim(kind, kind.size());
        if (place < 0) {
            return whole("unpacking").unpackInt(kind);
        }
        return switch (kind) {
            case BYTE -> data[place];
            case SHORT -> (short) SHORTS.get(data, place);
            case CHAR -> (char) CHARS.get(data, place);
            case INT -> (int) INTS.get(data, place);
            default -> throw new IllegalArgumentException(kind.toString());
        };
    }

    @Override
    public long unpackLong() {
        int place = claim(Kind.LONG, Kind.LONG.size());
        return place < 0 ? whole("unpacking").unpackLong() : (long) LONGS.get(data, place);
    }

    @Override
    public byte[] unpackText() {
        return whole("unpacking a text").unpackText();
    }

    @Override
    public ByteBuffer view(Kind kind, int count) {
        MemorySegment items = segment(kind, count);
        return items == null ? null : items.asByteBuffer().asReadOnlyBuffer().order(ByteOrder.nativeOrder());
    }

    /** A copy, which ends with the message as memory of the library does. */
    @Override
    public synchronized MemorySegment segment(Kind kind, long count) {
        ByteBuffer items = whole("a view").view(kind, (int) Math.min(count, Integer.MAX_VALUE));
        if (items == null) {
            return null;
        }
        if (lent == null) {
            lent = Arena.ofShared();
        }
        // Of the collector's, so that it is given back also where message and view are forgotten. The end of what was
        // lent lets it go.
        MemorySegment memory = Arena.ofAuto().allocate(Math.max(1, items.remaining()), 8);
        MemorySegment copy = memory.reinterpret(items.remaining(), lent, end -> Reference.reachabilityFence(memory));
        copy.copyFrom(MemorySegment.ofBuffer(items));
        return copy.asReadOnly();
    }

    /** Sends the items again as what they came as. */
    int forward(int tid, int tag, int context) {
        int from = at;
        if (from == CLOSED) {
            throw new PvmException(Code.NO_SUCH_BUF, "sending the " + info());
        }
        if (from == GIVEN) {
            whole("sending").left(); // throws if it is closed
        }
        int kind = raw ? Kind.BYTE.number() : type;
        Scratch scratch = Scratch.take();
        try {
            MemorySegment items = scratch.items();
            MemorySegment.copy(data, 0, items, JAVA_BYTE, 0, data.length);
            return (int) Calls.SEND_ITEMS.invokeExact(raw ? Encoding.RAW.number() : Encoding.DEFAULT.number(), kind, items,
                    (long) (data.length / sizeOf(kind)), tid, tag, context);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        } finally {
            scratch.give();
        }
    }

    @Override
    public void rewind() {
        for (;;) {
            int from = at;
            if (from < 0) {
                whole("reading again").rewind();
                return;
            }
            if (AT.compareAndSet(this, from, 0)) {
                return;
            }
        }
    }

    @Override
    public void close() {
        for (;;) {
            int from = at;
            if (from == GIVEN) {
                closeWhole();
                return;
            }
            if (from == CLOSED || AT.compareAndSet(this, from, CLOSED)) {
                return;
            }
        }
    }

    private synchronized void closeWhole() {
        if (lent != null) {
            // IllegalStateException if another thread is inside of what was lent; then nothing changes.
            lent.close();
            lent = null;
        }
        whole.close();
    }
}
