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
 * A message: one to be packed and sent ({@link #makeBuffer()}), or one that has come. A boolean is a byte of 0 or 1 and
 * a char is C's unsigned short; the other types are those of C with the same name, long being 64 bits.
 *
 * <p>Objects go with {@link #PvmDataRaw} alone. They are read through a filter ({@link #setObjectFilter}).
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

    /** A message to be packed, readable by every architecture. */
    public static PVMMessageBuffer makeBuffer() throws PVMException {
        return makeBuffer(PvmDataDefault);
    }

    /**
     * A message to be packed.
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

    /** Sends to a task; the message can be sent again. */
    public void send(int tid, int tag) throws PVMException {
        call(pvm -> draft().send(new TaskId(tid), tag));
    }

    /** Sends to each of the tasks but this one. */
    public void send(int[] tids, int tag) throws PVMException {
        call(pvm -> {
            return draft().sendAll(java.util.Arrays.stream(tids).mapToObj(TaskId::new).toList(), tag);
        });
    }

    void sendAll(java.util.List<TaskId> tasks, int tag) {
        draft().sendAll(tasks, tag);
    }

    /** The tag of a message that has come. */
    public int getMessageTag() throws PVMException {
        return call(pvm -> message().tag());
    }

    /** The task that sent it. */
    public int getSenderTID() throws PVMException {
        return call(pvm -> message().source().number());
    }

    /** Its length in bytes. */
    public long getLength() throws PVMException {
        return call(pvm -> message().info().bytes());
    }

    /** Gives the message back. Twice is no error. */
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

    /** Packs one. */
    public void pack(boolean item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all of them. */
    public void pack(boolean[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th, beginning with the first. */
    public void pack(boolean[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        boolean[] some = new boolean[count];
        for (int i = 0; i < count; i++) {
            some[i] = items[i * stride];
        }
        pack(some);
    }

    /** The next one. */
    public boolean unPackBoolean() throws PVMException {
        return call(pvm -> message().getBoolean());
    }

    /** The next {@code count}. */
    public boolean[] unPackBoolean(int count) throws PVMException {
        return call(pvm -> message().getBooleans(count));
    }

    /** Packs one. */
    public void pack(byte item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all of them. */
    public void pack(byte[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th, beginning with the first. */
    public void pack(byte[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        call(pvm -> draft().put(Kind.BYTE, items, 0, count, stride));
    }

    /** The next one. */
    public byte unPackByte() throws PVMException {
        return call(pvm -> message().getByte());
    }

    /** The next {@code count}. */
    public byte[] unPackByte(int count) throws PVMException {
        return call(pvm -> message().getBytes(count));
    }

    /** Packs one. */
    public void pack(char item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all of them. */
    public void pack(char[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th, beginning with the first. */
    public void pack(char[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        call(pvm -> draft().put(Kind.CHAR, items, 0, count, stride));
    }

    /** The next one. */
    public char unPackChar() throws PVMException {
        return call(pvm -> message().getChar());
    }

    /** The next {@code count}. */
    public char[] unPackChar(int count) throws PVMException {
        return call(pvm -> message().getChars(count));
    }

    /** Packs one. */
    public void pack(short item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all of them. */
    public void pack(short[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th, beginning with the first. */
    public void pack(short[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        call(pvm -> draft().put(Kind.SHORT, items, 0, count, stride));
    }

    /** The next one. */
    public short unPackShort() throws PVMException {
        return call(pvm -> message().getShort());
    }

    /** The next {@code count}. */
    public short[] unPackShort(int count) throws PVMException {
        return call(pvm -> message().getShorts(count));
    }

    /** Packs one. */
    public void pack(int item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all of them. */
    public void pack(int[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th, beginning with the first. */
    public void pack(int[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        call(pvm -> draft().put(Kind.INT, items, 0, count, stride));
    }

    /** The next one. */
    public int unPackInt() throws PVMException {
        return call(pvm -> message().getInt());
    }

    /** The next {@code count}. */
    public int[] unPackInt(int count) throws PVMException {
        return call(pvm -> message().getInts(count));
    }

    /** Packs one. */
    public void pack(long item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all of them. */
    public void pack(long[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th, beginning with the first. */
    public void pack(long[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        call(pvm -> draft().put(Kind.LONG, items, 0, count, stride));
    }

    /** The next one. */
    public long unPackLong() throws PVMException {
        return call(pvm -> message().getLong());
    }

    /** The next {@code count}. */
    public long[] unPackLong(int count) throws PVMException {
        return call(pvm -> message().getLongs(count));
    }

    /** Packs one. */
    public void pack(float item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all of them. */
    public void pack(float[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th, beginning with the first. */
    public void pack(float[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        call(pvm -> draft().put(Kind.FLOAT, items, 0, count, stride));
    }

    /** The next one. */
    public float unPackFloat() throws PVMException {
        return call(pvm -> message().getFloat());
    }

    /** The next {@code count}. */
    public float[] unPackFloat(int count) throws PVMException {
        return call(pvm -> message().getFloats(count));
    }

    /** Packs one. */
    public void pack(double item) throws PVMException {
        call(pvm -> draft().put(item));
    }

    /** Packs all of them. */
    public void pack(double[] items) throws PVMException {
        call(pvm -> draft().put(items));
    }

    /** Packs every {@code stride}th, beginning with the first. */
    public void pack(double[] items, int stride) throws PVMException {
        int count = count(items.length, stride);
        call(pvm -> draft().put(Kind.DOUBLE, items, 0, count, stride));
    }

    /** The next one. */
    public double unPackDouble() throws PVMException {
        return call(pvm -> message().getDouble());
    }

    /** The next {@code count}. */
    public double[] unPackDouble(int count) throws PVMException {
        return call(pvm -> message().getDoubles(count));
    }

    private static int count(int length, int stride) throws PVMException {
        if (stride < 1) {
            throw new PVMException(PvmBadParam, "a stride of " + stride);
        }
        return (int) ((length + (long) stride - 1) / stride);
    }

    /** Packs a text, as {@code pvm_pkstr} does, in UTF-8. */
    public void pack(String text) throws PVMException {
        call(pvm -> draft().put(text));
    }

    /** The next text. */
    public String unPackString() throws PVMException {
        return call(pvm -> message().getString());
    }

    /** Packs an object; only with {@link #PvmDataRaw}, as only Java tasks can read it. */
    public void pack(Serializable object) throws PVMException {
        if (!raw) {
            throw new PVMException(PvmBadParam, "objects need PvmDataRaw");
        }
        call(pvm -> draft().putObject(object));
    }

    /**
     * Says of which classes objects may be. Without it they are of those of Java's base module that only hold what they
     * are given: texts, numbers, lists, times and the like. Java's own filter for all
     * streams, if one is set, is asked as well.
     */
    public void setObjectFilter(ObjectInputFilter allowed) {
        filter = java.util.Objects.requireNonNull(allowed, "a filter is needed");
    }

    /** The next object. A class that the filter refuses is {@link #PvmDenied}, what is no object {@link #PvmBadMsg}. */
    public Object unPackObject() throws PVMException {
        return call(pvm -> filter == null
                ? message().getObject(Object.class) : message().getObject(Object.class, filter));
    }

    @Override
    public String toString() {
        return message == null ? "message being packed" : message.toString();
    }
}
