// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import java.io.ObjectInputFilter;
import java.io.Serializable;
import org.neopvm.Code;
import org.neopvm.Draft;
import org.neopvm.Encoding;
import org.neopvm.Message;
import org.neopvm.PvmException;
import org.neopvm.TaskId;
import org.neopvm.engine.Kind;

/**
 * A message that is being packed ({@link #makeBuffer()}), or one that was received. A boolean is
 * packed as a byte of 0 or 1, and a char as C's unsigned short; the other types are C's types of
 * the same name, with a long of 64 bits.
 *
 * <p>Objects need {@link #PvmDataRaw}. They are read through a filter ({@link #setObjectFilter}).
 */
public class PVMMessageBuffer extends PVMObject {
    private final Draft draft;
    private final Message message;
    private final boolean raw;
    private ObjectInputFilter filter;

    private PVMMessageBuffer(Draft draft, boolean raw) {
        this.draft = draft;
        this.message = null;
        this.raw = raw;
    }

    PVMMessageBuffer(Message message) {
        this.draft = null;
        this.message = message;
        this.raw = message.info().encoding() == Encoding.RAW;
    }

    /** Makes a message that every architecture can read. */
    public static PVMMessageBuffer makeBuffer() throws PVMException {
        return makeBuffer(PvmDataDefault);
    }

    /**
     * Makes a message to be packed.
     *
     * @param encoding {@link #PvmDataDefault} or {@link #PvmDataRaw}
     */
    public static PVMMessageBuffer makeBuffer(int encoding) throws PVMException {
        return switch (encoding) {
            case PvmDataDefault -> call(pvm -> new PVMMessageBuffer(pvm.message(Encoding.DEFAULT), false));
            case PvmDataRaw -> call(pvm -> new PVMMessageBuffer(pvm.message(Encoding.RAW), true));
            case PvmDataInPlace -> throw new PVMException(PvmNotImpl, "PvmDataInPlace: Java's arrays may move");
            default -> throw new PVMException(PvmBadParam, "encoding " + encoding);
        };
    }

    private Draft draft() {
        if (draft == null) {
            throw new PvmException(Code.BAD_PARAM, "packing into, or sending, the received " + message);
        }
        return draft;
    }

    private Message message() {
        if (message == null) {
            throw new PvmException(Code.BAD_PARAM, "reading a message that is being packed");
        }
        return message;
    }

    /** Sends the message to a task. It can be sent again. */
    public void send(int tid, int tag) throws PVMException {
        call(pvm -> draft().send(new TaskId(tid), tag));
    }

    /** Sends the message to each of the tasks except this one. */
    public void send(int[] tids, int tag) throws PVMException {
        call(pvm -> {
            return draft().sendAll(java.util.Arrays.stream(tids).mapToObj(TaskId::new).toList(), tag);
        });
    }

    void sendAll(java.util.List<TaskId> tasks, int tag) {
        draft().sendAll(tasks, tag);
    }

    /** Returns the tag of a received message. */
    public int getMessageTag() throws PVMException {
        return call(pvm -> message().tag());
    }

    /** Returns the id of the sender of a received message. */
    public int getSenderTID() throws PVMException {
        return call(pvm -> message().source().number());
    }

    /** Returns the length of a received message in bytes. */
    public long getLength() throws PVMException {
        return call(pvm -> message().info().bytes());
    }

    /** Frees the message. A second call does nothing. */
    public void freeBuffer() throws PVMException {
        call(pvm -> {
            if (draft != null) {
                draft.close();
            } else {
                message.close();
            }
            return null;
        });
    }

    /** Packs one item. */
    public void pack(boolean item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all items of an array. */
    public void pack(boolean[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th item of an array, beginning with the first one. */
    public void pack(boolean[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        boolean[] some = new boolean[count];
        for (int i = 0; i < count; i++) {
            some[i] = items[i * stride];
        }
        pack(some);
    }

    /** Returns the next item. */
    public boolean unPackBoolean() throws PVMException {
        return call(pvm -> message().getBoolean());
    }

    /** Returns the next {@code count} items. */
    public boolean[] unPackBoolean(int count) throws PVMException {
        return call(pvm -> message().getBooleans(count));
    }

    /** Packs one item. */
    public void pack(byte item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all items of an array. */
    public void pack(byte[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th item of an array, beginning with the first one. */
    public void pack(byte[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        call(pvm -> draft().put(Kind.BYTE, items, 0, count, stride));
    }

    /** Returns the next item. */
    public byte unPackByte() throws PVMException {
        return call(pvm -> message().getByte());
    }

    /** Returns the next {@code count} items. */
    public byte[] unPackByte(int count) throws PVMException {
        return call(pvm -> message().getBytes(count));
    }

    /** Packs one item. */
    public void pack(char item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all items of an array. */
    public void pack(char[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th item of an array, beginning with the first one. */
    public void pack(char[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        call(pvm -> draft().put(Kind.CHAR, items, 0, count, stride));
    }

    /** Returns the next item. */
    public char unPackChar() throws PVMException {
        return call(pvm -> message().getChar());
    }

    /** Returns the next {@code count} items. */
    public char[] unPackChar(int count) throws PVMException {
        return call(pvm -> message().getChars(count));
    }

    /** Packs one item. */
    public void pack(short item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all items of an array. */
    public void pack(short[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th item of an array, beginning with the first one. */
    public void pack(short[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        call(pvm -> draft().put(Kind.SHORT, items, 0, count, stride));
    }

    /** Returns the next item. */
    public short unPackShort() throws PVMException {
        return call(pvm -> message().getShort());
    }

    /** Returns the next {@code count} items. */
    public short[] unPackShort(int count) throws PVMException {
        return call(pvm -> message().getShorts(count));
    }

    /** Packs one item. */
    public void pack(int item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all items of an array. */
    public void pack(int[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th item of an array, beginning with the first one. */
    public void pack(int[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        call(pvm -> draft().put(Kind.INT, items, 0, count, stride));
    }

    /** Returns the next item. */
    public int unPackInt() throws PVMException {
        return call(pvm -> message().getInt());
    }

    /** Returns the next {@code count} items. */
    public int[] unPackInt(int count) throws PVMException {
        return call(pvm -> message().getInts(count));
    }

    /** Packs one item. */
    public void pack(long item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all items of an array. */
    public void pack(long[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th item of an array, beginning with the first one. */
    public void pack(long[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        call(pvm -> draft().put(Kind.LONG, items, 0, count, stride));
    }

    /** Returns the next item. */
    public long unPackLong() throws PVMException {
        return call(pvm -> message().getLong());
    }

    /** Returns the next {@code count} items. */
    public long[] unPackLong(int count) throws PVMException {
        return call(pvm -> message().getLongs(count));
    }

    /** Packs one item. */
    public void pack(float item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all items of an array. */
    public void pack(float[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th item of an array, beginning with the first one. */
    public void pack(float[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        call(pvm -> draft().put(Kind.FLOAT, items, 0, count, stride));
    }

    /** Returns the next item. */
    public float unPackFloat() throws PVMException {
        return call(pvm -> message().getFloat());
    }

    /** Returns the next {@code count} items. */
    public float[] unPackFloat(int count) throws PVMException {
        return call(pvm -> message().getFloats(count));
    }

    /** Packs one item. */
    public void pack(double item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all items of an array. */
    public void pack(double[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th item of an array, beginning with the first one. */
    public void pack(double[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        call(pvm -> draft().put(Kind.DOUBLE, items, 0, count, stride));
    }

    /** Returns the next item. */
    public double unPackDouble() throws PVMException {
        return call(pvm -> message().getDouble());
    }

    /** Returns the next {@code count} items. */
    public double[] unPackDouble(int count) throws PVMException {
        return call(pvm -> message().getDoubles(count));
    }

    private static int count(int length, int stride) throws PVMException {
        if (stride < 1) {
            throw new PVMException(PvmBadParam, "a stride of " + stride);
        }
        return (int) ((length + (long) stride - 1) / stride);
    }

    /** Packs a string as {@code pvm_pkstr} does, in UTF-8. */
    public void pack(String text) throws PVMException {
        call(pvm -> draft().put(text));
    }

    /** Returns the next string. */
    public String unPackString() throws PVMException {
        return call(pvm -> message().getString());
    }

    /**
     * Packs an object. The message must be in {@link #PvmDataRaw}, because only Java tasks can read
     * the object.
     */
    public void pack(Serializable object) throws PVMException {
        if (!raw) {
            throw new PVMException(PvmBadParam, "objects need PvmDataRaw");
        }
        call(pvm -> draft().putObject(object));
    }

    /**
     * Sets the filter for the classes of objects. By default the classes of Java's base module are
     * allowed that only contain what they are given: strings, numbers, lists, times and so on.
     * Java's own filter for all streams, if one is set, must allow a class, too.
     */
    public void setObjectFilter(ObjectInputFilter allowed) {
        filter = java.util.Objects.requireNonNull(allowed, "a filter is needed");
    }

    /**
     * Returns the next object. Throws {@link #PvmDenied} for a class that the filter refuses, and
     * {@link #PvmBadMsg} if the data are not an object.
     */
    public Object unPackObject() throws PVMException {
        return call(pvm -> filter == null
                ? message().getObject(Object.class) : message().getObject(Object.class, filter));
    }

    @Override
    public String toString() {
        return message == null ? "message being packed" : message.toString();
    }
}
