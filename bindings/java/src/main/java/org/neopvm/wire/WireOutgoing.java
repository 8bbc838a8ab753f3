// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.neopvm.Code;
import org.neopvm.Encoding;
import org.neopvm.PvmException;
import org.neopvm.engine.Kind;
import org.neopvm.engine.Outgoing;

/** A message that is packed into Java's memory. */
final class WireOutgoing implements Outgoing {
    /** Arrays of Java are not longer. */
    private static final int SIZE_MAX = Integer.MAX_VALUE - 64;

    private final ReentrantLock lock = new ReentrantLock();
    private final Encoding encoding;
    private final Runs runs = new Runs();
    private byte[] data = new byte[64];
    private int size;

    WireOutgoing(Encoding encoding) {
        this.encoding = encoding;
    }

    /** The frame that is sent: an envelope without addresses, the data, and the run list behind them. */
    record Content(Envelope envelope, ByteBuffer data, ByteBuffer list) {
        int size() {
            long size = (long) data.remaining() + list.remaining();
            if (size > SIZE_MAX) {
                throw new PvmException(Code.OVERFLOW, "sending a message of " + size + " bytes");
            }
            return (int) size;
        }
    }

    /** Has the content used; nobody packs meanwhile. */
    <T> T send(Function<Content, T> use) {
        lock.lock();
        try {
            checkOpen();
            return use.apply(content());
        } finally {
            lock.unlock();
        }
    }

    private Content content() {
        return content(encoding.number(), Body.LAYOUT, encoding == Encoding.DEFAULT ? runs : null, data, size);
    }

    /** What is sent of data, which the runs describe unless they are null. */
    static Content content(int encoding, int layout, Runs runs, byte[] data, int size) {
        int count = runs == null ? 0 : runs.length();
        long first = count > 0 ? runs.word(0) : 0;
        ByteBuffer list = ByteBuffer.allocate(count > 1 ? Math.multiplyExact(count, 8) : 0);
        list.order(ByteOrder.LITTLE_ENDIAN);
        for (int run = 0; list.hasRemaining(); run++) {
            list.putLong(runs.word(run));
        }
        Envelope envelope = new Envelope(0, 0, 0, 0, encoding, layout, count, 0, size, first);
        return new Content(envelope, ByteBuffer.wrap(data, 0, size), list.flip());
    }

    void checkOpen() {
        if (data == null) {
            throw new PvmException(Code.NO_SUCH_BUF, "packing a message");
        }
    }

    /** Makes room for items and tells where. */
    private int room(Kind kind, int count) {
        long end = size + (long) count * kind.size();
        if (end > SIZE_MAX) {
            throw new PvmException(Code.OVERFLOW, "packing more than 2 GB into one message");
        }
        if (end > data.length) {
            data = Arrays.copyOf(data, (int) Math.min(SIZE_MAX, Math.max(end, data.length * 2L)));
        }
        int at = size;
        size = (int) end;
        runs.push(Shape.of(kind), count);
        return at;
    }

    private void packed(Runnable pack) {
        lock.lock();
        try {
            checkOpen();
            pack.run();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void pack(Kind kind, Object items, int from, int count, int stride) {
        packed(() -> {
            int at = room(kind, count);
            Items.toBytes(kind, items, from, count, stride, data, at);
        });
    }

    @Override
    public void packInt(Kind kind, int item) {
        packed(() -> {
            int at = room(kind, 1);
            if (kind == Kind.BYTE) {
                data[at] = (byte) item;
            } else {
                Body.put(data, at, kind.size(), item);
            }
        });
    }

    @Override
    public void packLong(long item) {
        packed(() -> {
            int at = room(Kind.LONG, 1);
            Body.put(data, at, 8, item);
        });
    }

    @Override
    public void packText(byte[] utf8) {
        packed(() -> {
            // First: without memory for it not even the length is packed.
            byte[] ended = Arrays.copyOf(utf8, utf8.length + 1);
            packInt(Kind.INT, ended.length);
            int at = room(Kind.BYTE, ended.length);
            System.arraycopy(ended, 0, data, at, ended.length);
        });
    }

    /** There is no memory here that is sent without a copy. */
    @Override
    public ByteBuffer allocate(Kind kind, int count) {
        packed(() -> {});
        return null;
    }

    @Override
    public void close() {
        lock.lock();
        data = null;
        lock.unlock();
    }
}
