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
final class NativeIncoming implements Incoming, Lying {
    private final Handle handle;
    private final MessageInfo info;

    /** Of a buffer that was received, and its head. */
    NativeIncoming(int number, MessageInfo info) {
        handle = new Handle(this, number);
        this.info = info;
        handle.grow(info.bytes());
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
    public boolean holdsMemory() {
        return true;
    }

    @Override
    public synchronized long left() {
        Scratch scratch = Scratch.take();
        try {
            return Head.left(number("the rest"), scratch.answer());
        } finally {
            scratch.give();
        }
    }

    @Override
    public synchronized void unpack(Kind kind, Object items, int from, int count, int stride) {
        if (count == 0) {
            number("unpacking");
            return;
        }
        long size = kind.size();
        if (stride == 1 && count * size <= Scratch.ITEMS) {
            Scratch scratch = Scratch.take();
            try {
                unpack(kind, scratch.items(), count);
                Arrays.write(kind, scratch.items(), items, from, count);
            } finally {
                scratch.give();
            }
            return;
        }
        MemorySegment array = Arrays.segment(kind, items);
        if (stride == 1 && count * size > Calls.QUICK_BYTES) {
            MemorySegment lying = lying(kind, count, true);
            if (lying != null) {
                Calls.copy(lying, 0, array, from * size, count * size);
                return;
            }
        }
        if (count * size <= Calls.QUICK_BYTES) {
            unpackArray(kind, array.asSlice(from * size), count, stride);
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

    private void unpackArray(Kind kind, MemorySegment items, long count, long stride) {
        try {
            int status = (int) Calls.UNPACK_ARRAY.invokeExact(number("unpacking"), kind.number(), items, count, stride);
            check(status, "unpacking", kind, count);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    private void unpack(Kind kind, MemorySegment items, long count) {
        try {
            int status = (int) Calls.UNPACK.invokeExact(number("unpacking"), kind.number(), items, count, 1L);
            check(status, "unpacking", kind, count);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    @Override
    public synchronized int unpackInt(Kind kind) {
        Scratch scratch = Scratch.take();
        try {
            MemorySegment one = scratch.items();
            unpack(kind, one, 1);
            return switch (kind) {
                case BYTE -> one.get(JAVA_BYTE, 0);
                case SHORT -> one.get(JAVA_SHORT, 0);
                case CHAR -> one.get(JAVA_CHAR, 0);
                case INT -> one.get(JAVA_INT, 0);
                default -> throw new IllegalArgumentException(kind.toString());
            };
        } finally {
            scratch.give();
        }
    }

    @Override
    public synchronized long unpackLong() {
        Scratch scratch = Scratch.take();
        try {
            unpack(Kind.LONG, scratch.items(), 1);
            return scratch.items().get(JAVA_LONG, 0);
        } finally {
            scratch.give();
        }
    }

    @Override
    public synchronized byte[] unpackText() {
        Scratch scratch = Scratch.take();
        try {
            MemorySegment text = scratch.items();
            int status = unpackText(text, scratch.answer());
            long length = scratch.answer().get(JAVA_LONG, 0);
            byte[] bytes;
            if (status == Code.OVERFLOW.number() && length > Scratch.ITEMS && length <= info.bytes()) {
                bytes = new byte[Math.toIntExact(length)];
                status = unpackText(MemorySegment.ofArray(bytes), scratch.answer());
            } else {
                bytes = status < 0 ? null : text.asSlice(0, length).toArray(JAVA_BYTE);
            }
            check(status, "unpacking", Kind.BYTE, length);
            return bytes;
        } finally {
            scratch.give();
        }
    }

    private int unpackText(MemorySegment room, MemorySegment length) {
        try {
            length.set(JAVA_LONG, 0, 0);
            return (int) Calls.UNPACK_TEXT.invokeExact(number("unpacking a text"), room, room.byteSize(), length);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    @Override
    public ByteBuffer view(Kind kind, int count) {
        MemorySegment items = segment(kind, count);
        return items == null ? null : items.asByteBuffer().asReadOnlyBuffer().order(ByteOrder.nativeOrder());
    }

    @Override
    public synchronized MemorySegment segment(Kind kind, long count) {
        MemorySegment items = lying(kind, count, false);
        if (items == null) {
            return null;
        }
        if (handle.lent == null) {
            handle.lent = Arena.ofShared();
        }
        return items.reinterpret(handle.lent, null).asReadOnly();
    }

    /**
     * The next items in the library's memory; null where they do not lie there as asked for.
     *
     * @param again they are unpacked then: also where fewer are left, as that leaves the message at its end
     */
    private MemorySegment lying(Kind kind, long count, boolean again) {
        Scratch scratch = Scratch.take();
        try {
            MemorySegment address = scratch.answer();
            int status = (int) Calls.VIEW_ITEMS.invokeExact(number("a view"), kind.number(), count, address);
            if (status == Code.NOT_IMPL.number() || again && status == Code.NO_DATA.number()) {
                return null;
            }
            check(status, "a view of", kind, count);
            return address.get(ADDRESS, 0).reinterpret(Math.multiplyExact(count, kind.size()));
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        } finally {
            scratch.give();
        }
    }

    /** Sends the buffer, which the library keeps as it was received. */
    synchronized int forward(int tid, int tag, int context) {
        try {
            return (int) Calls.SEND.invokeExact(number("sending"), tid, tag, context);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    @Override
    public synchronized void rewind() {
        try {
            int status = (int) Calls.REWIND.invokeExact(number("reading again"));
            if (status < 0) {
                throw new PvmException(Code.of(status), "reading again the " + info);
            }
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    @Override
    public synchronized void close() {
        handle.free();
    }
}
