// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_CHAR;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.neopvm.Code;
import org.neopvm.Encoding;
import org.neopvm.PvmException;
import org.neopvm.engine.Kind;
import org.neopvm.engine.Outgoing;

/**
 * A message being packed, a buffer of the library. Every call holds this object's monitor, so that the number is not
 * used when {@link #close} has given it back.
 */
public final class NativeOutgoing implements Outgoing {
    private static final VarHandle SHORTS = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.nativeOrder());
    private static final VarHandle CHARS = MethodHandles.byteArrayViewVarHandle(char[].class, ByteOrder.nativeOrder());
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    /** As many bytes of items wait in Java's memory for a call that packs and sends them. */
    private static final int STAGED = 64;
    /** For fewer bytes in one call it is not asked how much is held already. */
    private static final int CHECKED = 1024;

    private final Encoding encoding;
    /** Null while the message has no buffer: nothing is packed, or it is staged. */
    private Handle handle;
    private boolean closed;
    /** Items of one kind that the library does not have yet. */
    private Kind stagedKind;
    private byte[] staged;
    private int stagedBytes;

    NativeOutgoing(Encoding encoding) {
        this.encoding = encoding;
    }

    /** True if all that was packed, and something was, waits to be sent by {@link #sendStaged}. The caller holds the monitor. */
    boolean isStaged() {
        return handle == null && stagedBytes > 0 && !closed;
    }

    /** Sends what is staged, and keeps it. The caller holds the monitor. */
    int sendStaged(int tid, int tag, int context) {
        Scratch scratch = Scratch.take();
        try {
            MemorySegment items = scratch.items();
            MemorySegment.copy(staged, 0, items, JAVA_BYTE, 0, stagedBytes);
            return (int) Calls.SEND_ITEMS.invokeExact(encoding.number(), stagedKind.number(), items,
                    (long) (stagedBytes / stagedKind.size()), tid, tag, context);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        } finally {
            scratch.give();
        }
    }

    /** Where the next items can be staged; negative if they cannot. */
    private int stage(Kind kind, int bytes) {
        // The bytes of each call are padded, so that two calls are not one.
        boolean fits = stagedBytes == 0 || stagedKind == kind && kind != Kind.BYTE;
        if (handle != null || closed || !fits || bytes > STAGED - stagedBytes) {
            return -1;
        }
        int from = stagedBytes;
        if (staged == null || staged.length < from + bytes) {
            byte[] larger = new byte[from + bytes <= 8 ? 8 : STAGED];
            System.arraycopy(staged == null ? larger : staged, 0, larger, 0, from);
            staged = larger;
        }
        stagedKind = kind;
        stagedBytes += bytes;
        return from;
    }

    /**
     * The buffer's number; one is made if there is none, with what is staged. The caller holds the monitor, and no scratch.
     */
    int number() {
        if (closed) {
            throw new PvmException(Code.NO_SUCH_BUF, "message being packed");
        }
        if (handle == null) {
            make();
        }
        return handle.number;
    }

    private void make() {
        Scratch scratch = Scratch.take();
        try {
            MemorySegment answer = scratch.answer();
            Calls.check((int) Calls.NEW.invokeExact(encoding.number(), answer), "a new message");
            handle = new Handle(this, answer.get(JAVA_INT, 0));
            if (stagedBytes > 0) {
                MemorySegment items = scratch.items();
                MemorySegment.copy(staged, 0, items, JAVA_BYTE, 0, stagedBytes);
                check((int) Calls.PACK.invokeExact(handle.number, stagedKind.number(), items,
                        (long) (stagedBytes / stagedKind.size()), 1L), stagedKind);
                stagedBytes = 0;
            }
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        } finally {
            scratch.give();
        }
    }

    /** The buffer's number, with nothing of it lent any more, before so many bytes are packed. */
    private int unlent(long bytes) {
        int number = number();
        handle.endLent();
        if (bytes > CHECKED) {
            Forgotten.check("packing " + bytes + " bytes", true);
        }
        handle.grow(bytes);
        return number;
    }

    @Override
    public synchronized void pack(Kind kind, Object items, int from, int count, int stride) {
        long size = kind.size();
        int place = stride == 1 && count > 0 && count * size <= STAGED ? stage(kind, count * kind.size()) : -1;
        if (place >= 0) {
            if (kind == Kind.INT && count == 1) {
                INTS.set(staged, place, ((int[]) items)[from]);
            } else {
                Arrays.read(kind, items, from, MemorySegment.ofArray(staged).asSlice(place), count);
            }
            return;
        }
        number();
        if (count == 0) {
            return;
        }
        if (stride == 1 && count * size <= Scratch.ITEMS) {
            packSmall(kind, items, from, count);
            return;
        }
        MemorySegment array = Arrays.segment(kind, items);
        if (stride == 1 && count * size > Calls.QUICK_BYTES) {
            MemorySegment room = room(kind, count);
            if (room != null) {
                Calls.copy(array, from * size, room, 0, count * size);
                return;
            }
        }
        // The bytes of a call are padded to four: only slices of whole fours lie behind one another as one call's do.
        int slice = (int) Math.max(4, Calls.QUICK_BYTES / (size * stride) & ~3);
        for (int done = 0; done < count; done += slice) {
            int part = Math.min(slice, count - done);
            packArray(kind, array.asSlice((from + (long) done * stride) * size), part, stride);
        }
    }

    private void packArray(Kind kind, MemorySegment items, long count, long stride) {
        int number = unlent(count * kind.size());
        try {
            check((int) Calls.PACK_ARRAY.invokeExact(number, kind.number(), items, count, stride), kind);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    private void packSmall(Kind kind, Object items, int from, int count) {
        Scratch scratch = Scratch.take();
        try {
            Arrays.read(kind, items, from, scratch.items(), count);
            pack(kind, scratch.items(), count);
        } finally {
            scratch.give();
        }
    }

    @Override
    public synchronized void packInt(Kind kind, int item) {
        int place = stage(kind, kind.size());
        if (place >= 0) {
            switch (kind) {
                case BYTE -> staged[place] = (byte) item;
                case SHORT -> SHORTS.set(staged, place, (short) item);
                case CHAR -> CHARS.set(staged, place, (char) item);
                case INT -> INTS.set(staged, place, item);
                case LONG, FLOAT, DOUBLE -> throw new IllegalArgumentException(kind.toString());
            }
            return;
        }
        number();
        Scratch scratch = Scratch.take();
        try {
            MemorySegment room = scratch.items();
            switch (kind) {
                case BYTE -> room.set(JAVA_BYTE, 0, (byte) item);
                case SHORT -> room.set(JAVA_SHORT, 0, (short) item);
                case CHAR -> room.set(JAVA_CHAR, 0, (char) item);
                case INT -> room.set(JAVA_INT, 0, item);
                case LONG, FLOAT, DOUBLE -> throw new IllegalArgumentException(kind.toString());
            }
            pack(kind, room, 1);
        } finally {
            scratch.give();
        }
    }

    @Override
    public synchronized void packLong(long item) {
        int place = stage(Kind.LONG, Kind.LONG.size());
        if (place >= 0) {
            LONGS.set(staged, place, item);
            return;
        }
        number();
        Scratch scratch = Scratch.take();
        try {
            scratch.items().set(JAVA_LONG, 0, item);
            pack(Kind.LONG, scratch.items(), 1);
        } finally {
            scratch.give();
        }
    }

    private void pack(Kind kind, MemorySegment items, long count) {
        int number = unlent(count * kind.size());
        try {
            check((int) Calls.PACK.invokeExact(number, kind.number(), items, count, 1L), kind);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    private static void check(int status, Kind kind) {
        if (status < 0) {
            throw new PvmException(Code.of(status), "packing " + kind);
        }
    }

    @Override
    public synchronized void packText(byte[] utf8) {
        int number = unlent(utf8.length);
        Scratch scratch = Scratch.take();
        try {
            MemorySegment text = MemorySegment.ofArray(utf8);
            if (utf8.length <= Scratch.ITEMS) {
                Arrays.read(Kind.BYTE, utf8, 0, scratch.items(), utf8.length);
                text = scratch.items();
            }
            Calls.check((int) Calls.PACK_TEXT.invokeExact(number, text, (long) utf8.length), "packing a text");
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        } finally {
            scratch.give();
        }
    }

    @Override
    public ByteBuffer allocate(Kind kind, int count) {
        MemorySegment room = segment(kind, count);
        return room == null ? null : room.asByteBuffer().order(ByteOrder.nativeOrder());
    }

    /** As {@link #allocate}, without a limit to the size. */
    public synchronized MemorySegment segment(Kind kind, long count) {
        MemorySegment room = room(kind, count);
        if (room == null) {
            return null;
        }
        handle.lent = Arena.ofShared();
        return room.reinterpret(handle.lent, null);
    }

    /** Memory of the message for items; null where there is no shared memory. */
    private MemorySegment room(Kind kind, long count) {
        long bytes = Math.multiplyExact(count, kind.size());
        int number = unlent(bytes);
        Scratch scratch = Scratch.take();
        try {
            MemorySegment address = scratch.answer();
            int status = (int) Calls.ALLOCATE.invokeExact(number, kind.number(), count, address);
            if (status == Code.NO_MEM.number() || status == Code.NOT_IMPL.number()) {
                return null;
            }
            if (status < 0) {
                throw new PvmException(Code.of(status), "allocating " + count + " items");
            }
            return address.get(ADDRESS, 0).reinterpret(bytes);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        } finally {
            scratch.give();
        }
    }

    @Override
    public synchronized void close() {
        if (handle != null) {
            handle.free();
        }
        closed = true;
    }
}
