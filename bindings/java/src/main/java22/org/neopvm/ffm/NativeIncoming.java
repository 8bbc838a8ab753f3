// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.neopvm.Code;
import org.neopvm.MessageInfo;
import org.neopvm.PvmException;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Kind;

/**
 * A message being read, a buffer of the library. Every call holds this object's monitor, so that the number is not
 * used when {@link #close} has given it back.
 */
public final class NativeIncoming implements Incoming {
    /** From this size on items are copied from where they lie instead of being unpacked. */
    private static final int VIEW_BYTES = 64 << 10;

    private final Handle handle = new Handle();
    private final Cleaner.Cleanable forgotten = Handle.CLEANER.register(this, handle);
    private final MessageInfo info;

    NativeIncoming(int number) {
        handle.number = number;
        info = Head.read(number);
    }

    private int number(String what) {
        if (handle.number == 0) {
            throw new PvmException(Code.NO_SUCH_BUF, what + " of the " + info);
        }
        return handle.number;
    }

    private void check(int status, String what, Kind kind, long count) {
        if (status < 0) {
            throw new PvmException(Code.of(status), what + " " + count + " " + kind + " of the " + info);
        }
    }

    @Override
    public MessageInfo info() {
        return info;
    }

    @Override
    public synchronized long left() {
        return Head.left(number("the rest"));
    }

    @Override
    public synchronized void unpack(Kind kind, Object items, int from, int count, int stride) {
        if (count == 0) {
            number("unpacking");
            return;
        }
        MemorySegment array = Arrays.segment(kind, items);
        long size = kind.size();
        if (stride == 1 && count * size >= VIEW_BYTES) {
            MemorySegment lying = lying(kind, count);
            if (lying != null) {
                MemorySegment.copy(lying, 0, array, from * size, count * size);
                return;
            }
        }
        if (count * size <= Calls.QUICK_BYTES) {
            unpack(kind, array.asSlice(from * size), count, stride);
        } else if (stride == 1) {
            unpackLong(kind, array.asSlice(from * size), count);
        } else {
            Object close = java.lang.reflect.Array.newInstance(items.getClass().getComponentType(), count);
            unpackLong(kind, Arrays.segment(kind, close), count);
            for (int i = 0; i < count; i++) {
                System.arraycopy(close, i, items, from + i * stride, 1);
            }
        }
    }

    /** Many items that have to be converted: not in one quick call. */
    private void unpackLong(Kind kind, MemorySegment items, long count) {
        long bytes = count * kind.size();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment room = arena.allocate(bytes, 16);
            int status = (int) Calls.UNPACK_LONG.invokeExact(number("unpacking"), kind.number(), room, count, 1L);
            check(status, "unpacking", kind, count);
            MemorySegment.copy(room, 0, items, 0, bytes);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    private void unpack(Kind kind, MemorySegment items, long count, long stride) {
        try {
            int status = (int) Calls.UNPACK.invokeExact(number("unpacking"), kind.number(), items, count, stride);
            check(status, "unpacking", kind, count);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    @Override
    public synchronized int unpackInt(Kind kind) {
        switch (kind) {
            case BYTE -> {
                byte[] one = new byte[1];
                unpack(kind, MemorySegment.ofArray(one), 1, 1);
                return one[0];
            }
            case SHORT -> {
                short[] one = new short[1];
                unpack(kind, MemorySegment.ofArray(one), 1, 1);
                return one[0];
            }
            case CHAR -> {
                char[] one = new char[1];
                unpack(kind, MemorySegment.ofArray(one), 1, 1);
                return one[0];
            }
            case INT -> {
                int[] one = new int[1];
                unpack(kind, MemorySegment.ofArray(one), 1, 1);
                return one[0];
            }
            default -> throw new IllegalArgumentException(kind.toString());
        }
    }

    @Override
    public synchronized long unpackLong() {
        long[] one = new long[1];
        unpack(Kind.LONG, MemorySegment.ofArray(one), 1, 1);
        return one[0];
    }

    @Override
    public synchronized byte[] unpackText() {
        byte[] text = new byte[256];
        long[] length = new long[1];
        for (;;) {
            int status;
            try {
                status = (int) Calls.UNPACK_TEXT.invokeExact(number("unpacking a text"), MemorySegment.ofArray(text),
                        (long) text.length, MemorySegment.ofArray(length));
            } catch (Throwable e) {
                throw Calls.unexpected(e);
            }
            if (status == Code.OVERFLOW.number() && length[0] > text.length && length[0] <= info.bytes()) {
                text = new byte[Math.toIntExact(length[0])];
                continue;
            }
            check(status, "unpacking", Kind.BYTE, length[0]);
            return java.util.Arrays.copyOf(text, (int) length[0]);
        }
    }

    @Override
    public ByteBuffer view(Kind kind, int count) {
        MemorySegment items = segment(kind, count);
        return items == null ? null : items.asByteBuffer().asReadOnlyBuffer().order(ByteOrder.nativeOrder());
    }

    /** As {@link #view}, without a limit to the size. */
    public synchronized MemorySegment segment(Kind kind, long count) {
        MemorySegment items = lying(kind, count);
        if (items == null) {
            return null;
        }
        if (handle.lent == null) {
            handle.lent = Arena.ofShared();
        }
        return items.reinterpret(handle.lent, null).asReadOnly();
    }

    /** The next items in the library's memory; null where they do not lie there as asked for. */
    private MemorySegment lying(Kind kind, long count) {
        long[] address = new long[1];
        try {
            int status = (int) Calls.VIEW_ITEMS.invokeExact(number("a view"), kind.number(), count,
                    MemorySegment.ofArray(address));
            if (status == Code.NOT_IMPL.number()) {
                return null;
            }
            check(status, "a view of", kind, count);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
        return MemorySegment.ofAddress(address[0]).reinterpret(Math.multiplyExact(count, kind.size()));
    }

    @Override
    public synchronized void rewind() {
        try {
            Calls.check((int) Calls.REWIND.invokeExact(number("reading again")), "reading again the " + info);
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
