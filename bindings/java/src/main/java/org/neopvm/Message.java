// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.io.ObjectInputFilter;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.charset.StandardCharsets;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Kind;

/**
 * A message that has come. Its items are read in the order in which they were packed, as the types that they were
 * packed as; where PVM reads another type, so does this. What does not fit is a {@link PvmException} that names the
 * task, the tag and the cause; {@link #rewind} reads the message again.
 *
 * <p>A message is closed when it has been read; what is forgotten is closed some time after. Closing twice does
 * nothing, also while another thread reads; a read after that fails with {@link Code#NO_SUCH_BUF}.
 */
public final class Message implements AutoCloseable {
    private final Incoming message;

    Message(Incoming message) {
        this.message = message;
    }

    Incoming incoming() {
        return message;
    }

    /** Its head. */
    public MessageInfo info() {
        return message.info();
    }

    /** The task that sent it. */
    public TaskId source() {
        return new TaskId(message.info().source());
    }

    /** Its tag. */
    public int tag() {
        return message.info().tag();
    }

    /** Bytes that are unread. */
    public long left() {
        return message.left();
    }

    /** Reads again from the first item. */
    public Message rewind() {
        message.rewind();
        return this;
    }

    /** A byte as a boolean: 0 is false. */
    public boolean getBoolean() {
        return getByte() != 0;
    }

    /** The next byte. */
    public byte getByte() {
        return (byte) message.unpackInt(Kind.BYTE);
    }

    /** The next 16-bit integer. */
    public short getShort() {
        return (short) message.unpackInt(Kind.SHORT);
    }

    /** The next char, C's unsigned short. */
    public char getChar() {
        return (char) message.unpackInt(Kind.CHAR);
    }

    /** The next 32-bit integer. */
    public int getInt() {
        return message.unpackInt(Kind.INT);
    }

    /** The next 64-bit integer, C's long. */
    public long getLong() {
        return message.unpackLong();
    }

    /** The next float. */
    public float getFloat() {
        return getFloats(1)[0];
    }

    /** The next double. */
    public double getDouble() {
        return getDoubles(1)[0];
    }

    /** The next text, as {@code pvm_pkstr} packs it, as UTF-8; bytes that are none become the replacement char. */
    public String getString() {
        return new String(message.unpackText(), StandardCharsets.UTF_8);
    }

    /** The next bytes as booleans: 0 is false. */
    public boolean[] getBooleans(int count) {
        byte[] bytes = getBytes(count);
        boolean[] items = new boolean[count];
        for (int i = 0; i < count; i++) {
            items[i] = bytes[i] != 0;
        }
        return items;
    }

    /** The next bytes. */
    public byte[] getBytes(int count) {
        return (byte[]) get(Kind.BYTE, count);
    }

    /** The next 16-bit integers. */
    public short[] getShorts(int count) {
        return (short[]) get(Kind.SHORT, count);
    }

    /** The next chars. */
    public char[] getChars(int count) {
        return (char[]) get(Kind.CHAR, count);
    }

    /** The next 32-bit integers. */
    public int[] getInts(int count) {
        return (int[]) get(Kind.INT, count);
    }

    /** The next 64-bit integers. */
    public long[] getLongs(int count) {
        return (long[]) get(Kind.LONG, count);
    }

    /** The next floats. */
    public float[] getFloats(int count) {
        return (float[]) get(Kind.FLOAT, count);
    }

    /** The next doubles. */
    public double[] getDoubles(int count) {
        return (double[]) get(Kind.DOUBLE, count);
    }

    private Object get(Kind kind, int count) {
        String what = "unpacking " + count + " " + kind + " of the ";
        if (count < 0) {
            throw new PvmException(Code.BAD_PARAM, what + message.info());
        }
        // A number out of a message must not fill the memory: asking for more than there can be has the same end.
        long most = Math.max(16, 2 * message.left()) / Math.min(kind.size(), 4) + 1;
        int asked = (int) Math.min(count, most);
        try {
            Object items = Items.array(kind, asked);
            message.unpack(kind, items, 0, asked, 1);
            if (asked == count) {
                return items;
            }
        } catch (PvmException e) {
            if (e.code() != Code.NO_DATA || asked == count) {
                throw e;
            }
        }
        throw new PvmException(Code.NO_DATA, what + message.info());
    }

    /**
     * Reads into part of an array: {@code count} items, {@code stride} elements apart, from {@code from} on.
     *
     * @param items an array of the kind's Java type
     * @throws IndexOutOfBoundsException if there are not so many places
     */
    public Message into(Kind kind, Object items, int from, int count, int stride) {
        Items.check(kind, items, from, count, stride);
        message.unpack(kind, items, from, count, stride);
        return this;
    }

    /**
     * An object that {@link Draft#putObject} packed: {@code type}, of classes of its package and of those of Java's base
     * module that only hold what they are given (texts, numbers, lists, times and the like, but nothing that compares or
     * computes while it is read), of at most 16 MiB and 20 levels. For a text, a number or an array of such it is made of
     * nothing else. Tables that hash their keys (as
     * {@code HashMap} and {@code Set.of}) come only where {@code type} is a map or a set: from a sender that is not
     * trusted do not ask for one.
     *
     * @throws PvmException {@link Code#BAD_MSG} for what is no such object, {@link Code#DENIED} for other classes
     */
    public <T> T getObject(Class<T> type) {
        return getObject(type, new SafeFilter(type));
    }

    /** The same with a filter of one's own. Java's own filter for all streams, if one is set, is asked as well. */
    public <T> T getObject(Class<T> type, ObjectInputFilter filter) {
        java.util.Objects.requireNonNull(filter, "a filter is needed");
        int length = getInt();
        if (length < 0 || length > message.left()) {
            throw new PvmException(Code.BAD_MSG, "no Java object in the " + message.info());
        }
        return Serialized.read(getBytes(length), type, filter, message.info());
    }

    /**
     * The next items where they lie, without a copy; read-only, and good until the message is closed: then using them
     * throws {@link IllegalStateException} with the native engine; with the other one the view stays what it was.
     * {@code Segments} (Java 22) gives the same as a segment. Closing while another thread is inside a bulk operation
     * on the view throws IllegalStateException and closes nothing. Keep the message as long as the view. A sender that misbehaves can change the items while
     * they are read.
     *
     * @throws PvmException {@link Code#NOT_IMPL} where they would have to be converted; then they can still be unpacked
     */
    public ByteBuffer view(Kind kind, int count) {
        // No buffer of Java's is larger; what is passed over by a view that fails would be lost.
        boolean fits = count >= 0 && (long) count * kind.size() <= Integer.MAX_VALUE;
        ByteBuffer items = fits ? message.view(kind, count) : null;
        if (items == null) {
            throw new PvmException(count < 0 ? Code.BAD_PARAM : Code.NOT_IMPL,
                    "a view of " + count + " " + kind + " of the " + message.info());
        }
        return items;
    }

    /** As {@link #view}. */
    public IntBuffer viewInts(int count) {
        return view(Kind.INT, count).asIntBuffer();
    }

    /** As {@link #view}. */
    public LongBuffer viewLongs(int count) {
        return view(Kind.LONG, count).asLongBuffer();
    }

    /** As {@link #view}. */
    public FloatBuffer viewFloats(int count) {
        return view(Kind.FLOAT, count).asFloatBuffer();
    }

    /** As {@link #view}. */
    public DoubleBuffer viewDoubles(int count) {
        return view(Kind.DOUBLE, count).asDoubleBuffer();
    }

    @Override
    public void close() {
        message.close();
    }

    @Override
    public String toString() {
        return message.info().toString();
    }
}
