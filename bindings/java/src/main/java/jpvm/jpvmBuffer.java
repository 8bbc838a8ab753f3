// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.neopvm.Code;
import org.neopvm.Encoding;
import org.neopvm.PvmException;
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
    /** A text among the items that {@link #read} notes. */
    private static final int TEXT = -1;

    /** The items that were read since the last rewind: {@code count} items of a kind. */
    private record Passed(Kind kind, int count) {}

    /** Null in a received buffer, and before anything is packed. */
    private Outgoing packed;
    /** A received message; or a copy of what is packed, while the program reads that. */
    private Incoming reading;
    private final boolean received;
    private final List<Passed> read = new ArrayList<>();

    /** Makes an empty buffer. */
    public jpvmBuffer() {
        received = false;
    }

    jpvmBuffer(Incoming message) {
        reading = message;
        received = true;
    }

    /** Sends the content to a task. */
    synchronized void send(int tid, int tag, int context) {
        Link.call(engine -> {
            if (received) {
                engine.forward(reading, tid, tag, context);
            } else {
                engine.send(packed(), tid, tag, context);
            }
            return null;
        });
    }

    /** Sends the content to tasks, of which none is this one. */
    synchronized void multicast(int[] tids, int tag, int context) {
        if (received) {
            for (int tid : tids) {
                send(tid, tag, context);
            }
            return;
        }
        Link.call(engine -> {
            engine.multicast(packed(), tids, tag, context);
            return null;
        });
    }

    private Outgoing packed() {
        if (packed == null) {
            packed = Link.call(engine -> engine.create(Encoding.DEFAULT));
        }
        return packed;
    }

    /** The message for more items. What was read of it stays read. */
    private synchronized void pack(Consumer<Outgoing> item) {
        if (received) {
            throw new jpvmException(Code.BAD_PARAM, "packing into a received message; make a new jpvmBuffer");
        }
        if (reading != null) {
            reading.close();
            reading = null;
        }
        Outgoing message = packed();
        Link.call(engine -> {
            item.accept(message);
            return null;
        });
    }

    private void pack(Kind kind, Object items, int count, int stride) {
        check(items, count, stride);
        pack(message -> message.pack(kind, items, 0, count, stride));
    }

    static void check(Object items, int count, int stride) {
        int length = java.lang.reflect.Array.getLength(items);
        if (count < 0 || stride < 1 || count > 0 && (count - 1L) * stride >= length) {
            throw new jpvmException(Code.BAD_PARAM,
                    count + " items with stride " + stride + " of an array of " + length);
        }
    }

    private synchronized <T> T unpack(Kind kind, int count, Function<Incoming, T> items) {
        Incoming message = reading();
        T result = Link.call(engine -> items.apply(message));
        if (!received) {
            read.add(new Passed(kind, count));
        }
        return result;
    }

    private Incoming reading() {
        if (reading == null) {
            Incoming copy = Link.readable(packed());
            for (Passed passed : read) {
                pass(copy, passed);
            }
            reading = copy;
        }
        return reading;
    }

    private static void pass(Incoming message, Passed passed) {
        if (passed.count == TEXT) {
            message.unpackText();
        } else {
            message.unpack(passed.kind, array(passed.kind, passed.count), 0, passed.count, 1);
        }
    }

    private static Object array(Kind kind, int count) {
        return switch (kind) {
            case BYTE -> new byte[count];
            case SHORT -> new short[count];
            case CHAR -> new char[count];
            case INT -> new int[count];
            case LONG -> new long[count];
            case FLOAT -> new float[count];
            case DOUBLE -> new double[count];
        };
    }

    private void unpack(Kind kind, Object items, int count, int stride) {
        check(items, count, stride);
        unpack(kind, count, message -> {
            message.unpack(kind, items, 0, count, stride);
            return null;
        });
    }

    private int number(Kind kind) {
        return unpack(kind, 1, message -> message.unpackInt(kind));
    }

    /** Unpacks from the first item again. */
    public synchronized void rewind() {
        read.clear();
        if (reading != null) {
            Link.call(engine -> {
                reading.rewind();
                return null;
            });
        }
    }

    /** Packs one item. */
    public void pack(int item) {
        pack(message -> message.packInt(Kind.INT, item));
    }

    /** Packs {@code n} items of an array, {@code stride} elements apart, beginning with the first one. */
    public void pack(int[] items, int n, int stride) {
        pack(Kind.INT, items, n, stride);
    }

    /** Unpacks the next {@code n} items into an array, {@code stride} elements apart. */
    public void unpack(int[] items, int n, int stride) {
        unpack(Kind.INT, items, n, stride);
    }

    /** Unpacks the next item. */
    public int upkint() {
        return number(Kind.INT);
    }

    /** Packs one item. */
    public void pack(char item) {
        pack(message -> message.packInt(Kind.CHAR, item));
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
        pack(message -> message.packInt(Kind.SHORT, item));
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
        pack(message -> message.packLong(item));
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
        return unpack(Kind.LONG, 1, Incoming::unpackLong);
    }

    /** Packs one item. */
    public void pack(byte item) {
        pack(message -> message.packInt(Kind.BYTE, item));
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
            pack(message -> message.packText(utf8));
        } catch (PvmException e) {
            throw new jpvmException(e);
        }
    }

    /** Unpacks the next string. */
    public String upkstr() {
        return new String(unpack(Kind.BYTE, TEXT, Incoming::unpackText), StandardCharsets.UTF_8);
    }
}
