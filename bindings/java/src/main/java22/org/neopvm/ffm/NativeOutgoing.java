// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Cleaner;
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
    /** From this size on items are copied into the message's own memory instead of being packed. */
    private static final int ALLOCATE_BYTES = 64 << 10;

    private final Handle handle = new Handle();
    private final Cleaner.Cleanable forgotten = Handle.CLEANER.register(this, handle);

    NativeOutgoing(Encoding encoding) {
        int[] answer = new int[1];
        try {
            Calls.check((int) Calls.NEW.invokeExact(encoding.number(), MemorySegment.ofArray(answer)), "a new message");
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
        handle.number = answer[0];
    }

    /** The buffer's number. The caller holds the monitor. */
    int number() {
        if (handle.number == 0) {
            throw new PvmException(Code.NO_SUCH_BUF, "message being packed");
        }
        return handle.number;
    }

    @Override
    public synchronized void pack(Kind kind, Object items, int from, int count, int stride) {
        if (count == 0) {
            number();
            return;
        }
        MemorySegment array = Arrays.segment(kind, items);
        long size = kind.size();
        if (stride == 1 && count * size >= ALLOCATE_BYTES) {
            MemorySegment room = room(kind, count);
            if (room != null) {
                MemorySegment.copy(array, from * size, room, 0, count * size);
                return;
            }
        }
        int slice = (int) Math.max(1, Calls.QUICK_BYTES / (size * stride));
        for (int done = 0; done < count; done += slice) {
            int part = Math.min(slice, count - done);
            pack(kind, array.asSlice((from + (long) done * stride) * size), part, stride);
        }
    }

    @Override
    public synchronized void packInt(Kind kind, int item) {
        MemorySegment one = switch (kind) {
            case BYTE -> MemorySegment.ofArray(new byte[] {(byte) item});
            case SHORT -> MemorySegment.ofArray(new short[] {(short) item});
            case CHAR -> MemorySegment.ofArray(new char[] {(char) item});
            case INT -> MemorySegment.ofArray(new int[] {item});
            case LONG, FLOAT, DOUBLE -> throw new IllegalArgumentException(kind.toString());
        };
        pack(kind, one, 1, 1);
    }

    @Override
    public synchronized void packLong(long item) {
        pack(Kind.LONG, MemorySegment.ofArray(new long[] {item}), 1, 1);
    }

    private void pack(Kind kind, MemorySegment items, long count, long stride) {
        handle.endLent();
        try {
            Calls.check((int) Calls.PACK.invokeExact(number(), kind.number(), items, count, stride),
                    "packing " + kind);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    @Override
    public synchronized void packText(byte[] utf8) {
        handle.endLent();
        try {
            Calls.check((int) Calls.PACK_TEXT.invokeExact(number(), MemorySegment.ofArray(utf8), (long) utf8.length),
                    "packing a text");
        } catch (Throwable e) {
            throw Calls.unexpected(e);
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
        handle.endLent();
        long bytes = Math.multiplyExact(count, kind.size());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(ADDRESS);
            int status = (int) Calls.ALLOCATE.invokeExact(number(), kind.number(), count, address);
            if (status == Code.NO_MEM.number() || status == Code.NOT_IMPL.number()) {
                return null;
            }
            Calls.check(status, "allocating " + count + " items");
            return address.get(ADDRESS, 0).reinterpret(bytes);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    @Override
    public synchronized void close() {
        handle.free();
        forgotten.clean();
    }
}
