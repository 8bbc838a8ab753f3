// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.neopvm.Code;
import org.neopvm.MessageInfo;
import org.neopvm.PvmException;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Kind;

/** A message that came over the socket and lies in Java's memory. */
final class WireIncoming implements Incoming {
    private final ReentrantLock lock = new ReentrantLock();
    private final Envelope envelope;
    /** As they have come; null once they are read, and when it is closed. */
    private byte[] bytes;
    private final int length;
    private volatile MessageInfo info;
    private Body body;
    private Cursor cursor;

    /**
     * With a body that is given away. The message is taken: without memory for reading it that is done later.
     *
     * @param length of the body; the array may be longer
     */
    WireIncoming(Envelope envelope, byte[] bytes, int length) {
        this.envelope = envelope;
        this.bytes = bytes;
        this.length = length;
        try {
            read();
        } catch (OutOfMemoryError e) {
            // It is tried again by every call, until one succeeds.
        }
    }

    /** Can be tried again at every place where there may be no memory. */
    private void read() {
        if (body == null) {
            body = new Body(envelope, bytes, length);
        }
        if (cursor == null) {
            cursor = new Cursor(body);
        }
        info = new MessageInfo(
                envelope.source(), envelope.tag(), envelope.context(), envelope.kind(), body.reportedSize());
        bytes = null;
    }

    private void readLate() {
        try {
            read();
        } catch (OutOfMemoryError e) {
            throw new PvmException(Code.NO_MEM, "reading a message that is taken, and can be read later", e);
        } catch (BadBytes e) {
            throw new PvmException(Code.BAD_MSG, "reading a message", e);
        }
    }

    @Override
    public MessageInfo info() {
        return info != null ? info : open(() -> info);
    }

    private <T> T open(Supplier<T> action) {
        lock.lock();
        try {
            if (body == null && bytes == null) {
                throw new PvmException(Code.NO_SUCH_BUF, "reading " + info);
            }
            if (info == null) {
                readLate();
            }
            return action.get();
        } finally {
            lock.unlock();
        }
    }

    /** What sends the message on. The data are only read while a message is open, so nobody changes them. */
    WireOutgoing.Content content() {
        return open(() -> {
            Runs runs = body.runs;
            // Opaque bytes stay laid out as their sender had them; described items are this computer's by now.
            int layout = runs == null && envelope.firstRun() == 0 ? envelope.layout() : Body.LAYOUT;
            return WireOutgoing.content(envelope.encoding(), layout, runs, body.data, body.size);
        });
    }

    @Override
    public long left() {
        return open(() -> cursor.left());
    }

    /** Where the items lie as they are wanted: in the message, or in a copy. */
    private record Place(byte[] bytes, int at) {}

    private Place next(Kind kind, int count) {
        Shape shape = Shape.of(kind);
        if (!body.canRead(kind)) {
            throw new PvmException(Code.BAD_MSG, "reading " + kind + " from raw " + info);
        }
        if (!cursor.has(shape, count)) {
            // As with every library of PVM, the message is at its end.
            cursor.end();
            throw new PvmException(Code.NO_DATA, "reading " + count + " " + kind + " from " + info);
        }
        int at = cursor.pass(shape, count);
        if (at >= 0) {
            return new Place(body.data, at);
        }
        byte[] copy = new byte[Math.multiplyExact(count, shape.size)];
        cursor.read(shape, count, copy);
        return new Place(copy, 0);
    }

    @Override
    public void unpack(Kind kind, Object items, int from, int count, int stride) {
        open(() -> {
            Place place = next(kind, count);
            Items.fromBytes(kind, place.bytes, place.at, items, from, count, stride);
            return null;
        });
    }

    @Override
    public int unpackInt(Kind kind) {
        return open(() -> {
            Place place = next(kind, 1);
            ByteBuffer item = ByteBuffer.wrap(place.bytes).order(ByteOrder.nativeOrder());
            return switch (kind) {
                case BYTE -> (int) item.get(place.at);
                case SHORT -> (int) item.getShort(place.at);
                case CHAR -> (int) item.getChar(place.at);
                default -> item.getInt(place.at);
            };
        });
    }

    @Override
    public long unpackLong() {
        return open(() -> {
            Place place = next(Kind.LONG, 1);
            return ByteBuffer.wrap(place.bytes).order(ByteOrder.nativeOrder()).getLong(place.at);
        });
    }

    @Override
    public byte[] unpackText() {
        return open(() -> {
            if (!cursor.mayBeText()) {
                throw new PvmException(Code.MISMATCH, "reading a text from " + info + ": the next items are none");
            }
            int size = unpackInt(Kind.INT);
            if (size < 0) {
                throw new PvmException(Code.NO_DATA, "reading a text from " + info);
            }
            Place place = next(Kind.BYTE, size);
            int end = place.at;
            while (end < place.at + size && place.bytes[end] != 0) {
                end++;
            }
            return Arrays.copyOfRange(place.bytes, place.at, end);
        });
    }

    /** Java's own memory cannot be taken back: the items stay readable when the message is closed. */
    @Override
    public ByteBuffer view(Kind kind, int count) {
        return open(() -> {
            Shape shape = Shape.of(kind);
            if (!body.canRead(kind)) {
                return null;
            }
            if (!cursor.has(shape, count)) {
                throw new PvmException(Code.NO_DATA, "viewing " + count + " " + kind + " of " + info);
            }
            int at = count == 0 ? 0 : cursor.pass(shape, count);
            if (at < 0) {
                return null;
            }
            ByteBuffer items = ByteBuffer.wrap(body.data, at, count * shape.size).slice();
            return items.asReadOnlyBuffer().order(ByteOrder.nativeOrder());
        });
    }

    @Override
    public void rewind() {
        open(() -> {
            cursor.rewind();
            return null;
        });
    }

    @Override
    public void close() {
        lock.lock();
        bytes = null;
        body = null;
        cursor = null;
        lock.unlock();
    }
}
