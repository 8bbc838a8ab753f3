// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.neopvm.Code;
import org.neopvm.Encoding;
import org.neopvm.MessageInfo;
import org.neopvm.PvmException;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Kind;
import org.neopvm.engine.Outgoing;
import org.neopvm.engine.Texts;

/**
 * The data of a message: packed by the sender, unpacked in the same order by the receiver, from the beginning again after
 * {@link #rewind}. A buffer can be sent any number of times, also one that was received. A C task packs and unpacks the
 * same items: a char is its unsigned short, a long its long of 64 bits, a task id its int, and a string is what {@code
 * pvm_pkstr} packs.
 */
public class jpvmBuffer {
    /** More bytes of a call, or of a received message, are not copied to Java's memory. */
    private static final int KEPT_MAX = 64 << 10;

    /**
     * What is packed, as long as it is little; and of a received message what is read. JPVM has no call that frees a
     * buffer, and the collector would let those of the library pile up, so they are freed as soon as they are sent or
     * read to the end.
     */
    private List<Part> parts = List.of();
    /** The ints that were packed behind them, by one call or several: one part, as they are sent. */
    private int[] ints;
    private int intCount;
    /** All that is packed, if it is much. */
    private Outgoing large;
    /** A received message that is not read to the end; or a copy of the content, while the program reads that. */
    private Incoming reading;
    /** Of a received message; null in others. */
    private final MessageInfo received;
    /** The parts hold what is read of {@link #reading}, and will be all of it. */
    private boolean keeps;
    /** The received message was read to the end, and is not read again. */
    private boolean atEnd;
    /** What was read of a copy of the content since the last rewind. */
    private List<Part> passed = List.of();

    /** Makes an empty buffer. */
    public jpvmBuffer() {
        received = null;
    }

    jpvmBuffer(Incoming message, MessageInfo info) {
        reading = message;
        received = info;
        keeps = message.holdsMemory() && info.bytes() <= KEPT_MAX;
    }

    /** Sends the content to a task. */
    synchronized void send(int tid, int tag, int context) {
        Link.call(engine -> {
            if (received != null && reading != null) {
                engine.forward(reading, tid, tag, context);
            } else if (large != null) {
                engine.send(large, tid, tag, context);
            } else {
                engine.sendLast(message(engine), tid, tag, context);
            }
            return null;
        });
    }

    /** Sends the content to tasks, of which none is this one. */
    synchronized void multicast(int[] tids, int tag, int context) {
        if (received != null && reading != null) {
            for (int tid : tids) {
                send(tid, tag, context);
            }
            return;
        }
        Link.call(engine -> {
            Outgoing message = large != null ? large : message(engine);
            try {
                engine.multicast(message, tids, tag, context);
            } finally {
                if (message != large) {
                    message.close();
                }
            }
            return null;
        });
    }

    private Outgoing message(Engine engine) {
        Outgoing message = engine.create(Encoding.DEFAULT);
        for (Part part : parts) {
            part.pack(message);
        }
        if (intCount > 0) {
            message.pack(Kind.INT, ints, 0, intCount, 1);
        }
        return message;
    }

    private static List<Part> with(List<Part> parts, Part part) {
        List<Part> longer = parts.isEmpty() ? new ArrayList<>(4) : parts;
        longer.add(part);
        return longer;
    }

    /** Makes room for more ints behind those that are there. True if there is little enough for it. */
    private boolean hasRoom(int count) {
        if (large != null || received != null || intCount + (long) count > KEPT_MAX / Integer.BYTES) {
            return false;
        }
        int wanted = intCount + count;
        if (ints == null || wanted > ints.length) {
            int[] longer = new int[Math.max(wanted, ints == null ? 4 : 2 * ints.length)];
            System.arraycopy(ints == null ? longer : ints, 0, longer, 0, intCount);
            ints = longer;
        }
        forgetReading();
        return true;
    }

    private void forgetReading() {
        if (reading != null) {
            reading.close();
            reading = null;
        }
    }

    /** Adds items. What was read stays read. */
    private synchronized void pack(Part part, boolean isLarge) {
        if (received != null) {
            throw new jpvmException(Code.BAD_PARAM, "packing into a received message; make a new jpvmBuffer");
        }
        forgetReading();
        if (large == null && !isLarge) {
            if (intCount > 0) {
                parts = with(parts, new Part.Lent(Kind.INT, ints, intCount, 1));
                ints = null;
                intCount = 0;
            }
            parts = with(parts, part);
            return;
        }
        Link.call(engine -> {
            if (large == null) {
                large = message(engine);
                parts = List.of();
                ints = null;
                intCount = 0;
            }
            part.pack(large);
            return null;
        });
    }

    private void pack(Kind kind, Object items, int count, int stride) {
        check(items, count, stride);
        boolean isLarge = (long) count * kind.size() > KEPT_MAX;
        pack(isLarge ? new Part.Lent(kind, items, count, stride) : Part.copy(kind, items, count, stride), isLarge);
    }

    static void check(Object items, int count, int stride) {
        int length = java.lang.reflect.Array.getLength(items);
        if (count < 0 || stride < 1 || count > 0 && (count - 1L) * stride >= length) {
            throw new jpvmException(Code.BAD_PARAM,
                    count + " items with stride " + stride + " of an array of " + length);
        }
    }

    /** The message of which the next items are read. */
    private Incoming reading() {
        if (reading == null) {
            if (atEnd) {
                throw new jpvmException(Code.NO_DATA, "reading behind the last item of the " + received);
            }
            Incoming copy = Link.readable(this);
            for (Part part : passed) {
                part.pass(copy);
            }
            reading = copy;
        }
        return reading;
    }

    /** True if what is read has to be noted. */
    private boolean notes() {
        return received == null || keeps;
    }

    /** Notes what was read; a received message whose items are all noted is freed. */
    private void note(Part part) {
        if (received == null) {
            passed = with(passed, part);
            return;
        }
        parts = with(parts, part);
        if (reading.left() == 0) {
            reading.close();
            reading = null;
            keeps = false;
            atEnd = true;
        }
    }

    private <T> T read(Function<Incoming, T> items) {
        Incoming message = reading();
        try {
            return Link.call(engine -> items.apply(message));
        } catch (jpvmException e) {
            // The message is at its end now, and what was passed over is not noted.
            if (keeps) {
                keeps = false;
                parts = List.of();
            }
            throw e;
        }
    }

    private synchronized void unpack(Kind kind, Object items, int count, int stride) {
        check(items, count, stride);
        read(message -> {
            message.unpack(kind, items, 0, count, stride);
            return null;
        });
        if (notes()) {
            note(Part.copy(kind, items, count, stride));
        }
    }

    private synchronized long number(Kind kind) {
        long number = read(message -> kind == Kind.LONG ? message.unpackLong() : message.unpackInt(kind));
        if (notes()) {
            note(new Part.Number(kind, number));
        }
        return number;
    }

    /** Unpacks from the first item again. */
    public synchronized void rewind() {
        passed = List.of();
        atEnd = false;
        if (keeps) {
            parts = List.of();
        }
        if (reading != null) {
            Link.call(engine -> {
                reading.rewind();
                return null;
            });
        }
    }

    /** Packs one item. */
    public synchronized void pack(int item) {
        if (hasRoom(1)) {
            ints[intCount++] = item;
        } else {
            pack(new Part.Number(Kind.INT, item), false);
        }
    }

    /** Packs {@code n} items of an array, {@code stride} elements apart, beginning with the first one. */
    public synchronized void pack(int[] items, int n, int stride) {
        check(items, n, stride);
        if (stride == 1 && hasRoom(n)) {
            System.arraycopy(items, 0, ints, intCount, n);
            intCount += n;
        } else {
            pack(Kind.INT, items, n, stride);
        }
    }

    /** Unpacks the next {@code n} items into an array, {@code stride} elements apart. */
    public void unpack(int[] items, int n, int stride) {
        unpack(Kind.INT, items, n, stride);
    }

    /** Unpacks the next item. */
    public int upkint() {
        return (int) number(Kind.INT);
    }

    /** Packs one item. */
    public void pack(char item) {
        pack(new Part.Number(Kind.CHAR, item), false);
    }

    /** Packs {@code n} items of an array, {@code stride} elements apart, beginning with the first one. */
    public void pack(char[] items, int n, int stride) {
        pack(Kind.CHAR, items, n, stride);
    }

    /** Unpacks the next {@code n} items into an array, {@code stride} elements apart. */
    public void unpack(char[] items, int n, int stride) {
        unpack(Kind.CHAR, items, n, stride);
    }

    /** Unpacks the next item. */
    public char upkchar() {
        return (char) number(Kind.CHAR);
    }

    /** Packs one item. */
    public void pack(short item) {
        pack(new Part.Number(Kind.SHORT, item), false);
    }

    /** Packs {@code n} items of an array, {@code stride} elements apart, beginning with the first one. */
    public void pack(short[] items, int n, int stride) {
        pack(Kind.SHORT, items, n, stride);
    }

    /** Unpacks the next {@code n} items into an array, {@code stride} elements apart. */
    public void unpack(short[] items, int n, int stride) {
        unpack(Kind.SHORT, items, n, stride);
    }

    /** Unpacks the next item. */
    public short upkshort() {
        return (short) number(Kind.SHORT);
    }

    /** Packs one item. */
    public void pack(long item) {
        pack(new Part.Number(Kind.LONG, item), false);
    }

    /** Packs {@code n} items of an array, {@code stride} elements apart, beginning with the first one. */
    public void pack(long[] items, int n, int stride) {
        pack(Kind.LONG, items, n, stride);
    }

    /** Unpacks the next {@code n} items into an array, {@code stride} elements apart. */
    public void unpack(long[] items, int n, int stride) {
        unpack(Kind.LONG, items, n, stride);
    }

    /** Unpacks the next item. */
    public long upklong() {
        return number(Kind.LONG);
    }

    /** Packs one item. */
    public void pack(byte item) {
        pack(new Part.Number(Kind.BYTE, item), false);
    }

    /** Packs {@code n} items of an array, {@code stride} elements apart, beginning with the first one. */
    public void pack(byte[] items, int n, int stride) {
        pack(Kind.BYTE, items, n, stride);
    }

    /** Unpacks the next {@code n} items into an array, {@code stride} elements apart. */
    public void unpack(byte[] items, int n, int stride) {
        unpack(Kind.BYTE, items, n, stride);
    }

    /** Unpacks the next item. */
    public byte upkbyte() {
        return (byte) number(Kind.BYTE);
    }

    /** Packs one item. */
    public void pack(float item) {
        pack(Kind.FLOAT, new float[] {item}, 1, 1);
    }

    /** Packs {@code n} items of an array, {@code stride} elements apart, beginning with the first one. */
    public void pack(float[] items, int n, int stride) {
        pack(Kind.FLOAT, items, n, stride);
    }

    /** Unpacks the next {@code n} items into an array, {@code stride} elements apart. */
    public void unpack(float[] items, int n, int stride) {
        unpack(Kind.FLOAT, items, n, stride);
    }

    /** Unpacks the next item. */
    public float upkfloat() {
        float[] item = new float[1];
        unpack(item, 1, 1);
        return item[0];
    }

    /** Packs one item. */
    public void pack(double item) {
        pack(Kind.DOUBLE, new double[] {item}, 1, 1);
    }

    /** Packs {@code n} items of an array, {@code stride} elements apart, beginning with the first one. */
    public void pack(double[] items, int n, int stride) {
        pack(Kind.DOUBLE, items, n, stride);
    }

    /** Unpacks the next {@code n} items into an array, {@code stride} elements apart. */
    public void unpack(double[] items, int n, int stride) {
        unpack(Kind.DOUBLE, items, n, stride);
    }

    /** Unpacks the next item. */
    public double upkdouble() {
        double[] item = new double[1];
        unpack(item, 1, 1);
        return item[0];
    }

    /** Packs a task id, or null for no task. */
    public void pack(jpvmTaskId item) {
        pack(item == null ? 0 : item.getPort());
    }

    /** Packs {@code n} task ids of an array, {@code stride} elements apart, beginning with the first one. */
    public void pack(jpvmTaskId[] items, int n, int stride) {
        check(items, n, stride);
        int[] numbers = new int[n];
        for (int i = 0; i < n; i++) {
            numbers[i] = items[i * stride] == null ? 0 : items[i * stride].getPort();
        }
        pack(numbers, n, 1);
    }

    /** Unpacks the next {@code n} task ids into an array, {@code stride} elements apart. */
    public void unpack(jpvmTaskId[] items, int n, int stride) {
        check(items, n, stride);
        int[] numbers = new int[n];
        unpack(numbers, n, 1);
        for (int i = 0; i < n; i++) {
            items[i * stride] = jpvmTaskId.of(numbers[i]);
        }
    }

    /** Unpacks the next task id; null stands for no task. */
    public jpvmTaskId upktid() {
        return jpvmTaskId.of(upkint());
    }

    /** Packs a string. It must not contain the char 0 or an unpaired surrogate. */
    public void pack(String text) {
        try {
            byte[] utf8 = Texts.bytes(text, "packing");
            pack(new Part.Text(utf8), utf8.length > KEPT_MAX);
        } catch (PvmException e) {
            throw new jpvmException(e);
        }
    }

    /** Unpacks the next string. */
    public synchronized String upkstr() {
        byte[] utf8 = read(Incoming::unpackText);
        if (notes()) {
            note(new Part.Text(utf8));
        }
        return new String(utf8, StandardCharsets.UTF_8);
    }
}
