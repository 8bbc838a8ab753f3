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
 * A received message. Its items are read in the order in which they were packed, and as the types
 * they were packed as; other types are converted as in PVM. If an item cannot be read, the call
 * throws a {@link PvmException} that states the task, the tag and the cause. {@link #rewind} moves
 * back to the first item.
 *
 * <p>Close a message when you have read it. The garbage collector closes messages that the program
 * has forgotten. Closing a message twice does nothing, also while another thread reads; using it
 * afterwards throws {@link Code#NO_SUCH_BUF}.
 */
public final class Message implements AutoCloseable {
    private final Incoming message;

    Message(Incoming message) {
        this.message = message;
    }

    Incoming incoming() {
        return message;
    }

    /** Returns the envelope of the message. */
    public MessageInfo info() {
        return message.info();
    }

    /** Returns the task that sent the message. */
    public TaskId source() {
        return new TaskId(message.info().source());
    }

    /** Returns the tag of the message. */
    public int tag() {
        return message.info().tag();
    }

    /** Returns the number of bytes that are not read yet. */
    public long left() {
        return message.left();
    }

    /** Moves the read position back to the first item. */
    public Message rewind() {
        message.rewind();
        return this;
    }

    /** Returns the next byte as a boolean: 0 is false. */
    public boolean getBoolean() {
        return getByte() != 0;
    }

    /** Returns the next byte. */
    public byte getByte() {
        return (byte) message.unpackInt(Kind.BYTE);
    }

    /** Returns the next 16-bit integer. */
    public short getShort() {
        return (short) message.unpackInt(Kind.SHORT);
    }

    /** Returns the next char, C's unsigned short. */
    public char getChar() {
        return (char) message.unpackInt(Kind.CHAR);
    }

    /** Returns the next 32-bit integer. */
    public int getInt() {
        return message.unpackInt(Kind.INT);
    }

    /** Returns the next 64-bit integer, C's long. */
    public long getLong() {
        return message.unpackLong();
    }

    /** Returns the next float. */
    public float getFloat() {
        return getFloats(1)[0];
    }

    /** Returns the next double. */
    public double getDouble() {
        return getDoubles(1)[0];
    }

    /**
     * Returns the next string, as {@code pvm_pkstr} packs it, decoded as UTF-8. Invalid bytes
     * become the replacement character.
     */
    public String getString() {
        return new String(message.unpackText(), StandardCharsets.UTF_8);
    }

    /** Returns the next bytes as booleans: 0 is false. */
    public boolean[] getBooleans(int count) {
        byte[] bytes = getBytes(count);
        boolean[] items = new boolean[count];
        for (int i = 0; i < count; i++) {
            items[i] = bytes[i] != 0;
        }
        return items;
    }

    /** Returns the next bytes. */
    public byte[] getBytes(int count) {
        return (byte[]) get(Kind.BYTE, count);
    }

    /** Returns the next 16-bit integers. */
    public short[] getShorts(int count) {
        return (short[]) get(Kind.SHORT, count);
    }

    /** Returns the next chars. */
    public char[] getChars(int count) {
        return (char[]) get(Kind.CHAR, count);
    }

    /** Returns the next 32-bit integers. */
    public int[] getInts(int count) {
        return (int[]) get(Kind.INT, count);
    }

    /** Returns the next 64-bit integers. */
    public long[] getLongs(int count) {
        return (long[]) get(Kind.LONG, count);
    }

    /** Returns the next floats. */
    public float[] getFloats(int count) {
        return (float[]) get(Kind.FLOAT, count);
    }

    /** Returns the next doubles. */
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
     * Reads into part of an array: {@code count} items, {@code stride} elements apart, beginning at
     * {@code from}.
     *
     * @param items an array of the kind's Java type
     * @throws IndexOutOfBoundsException if the array is too short
     */
    public Message into(Kind kind, Object items, int from, int count, int stride) {
        Items.check(kind, items, from, count, stride);
        message.unpack(kind, items, from, count, stride);
        return this;
    }

    /**
     * Returns an object that {@link Draft#putObject} has packed, of at most 16 MiB and 20 levels.
     * It may consist of objects of {@code type}, of classes of its package, and of those classes of
     * Java's base module that only contain what they are given: strings, numbers, lists, times and
     * so on, but no class that compares or computes while it is read. If {@code type} is a string,
     * a number or an array of these, nothing else is allowed. Tables that hash their keys ({@code
     * HashMap}, {@code Set.of}) are allowed only if {@code type} is a map or a set: do not request
     * one from a sender that is not trusted.
     *
     * @throws PvmException {@link Code#BAD_MSG} if the data are not such an object, {@link
     *     Code#DENIED} for other classes
     */
    public <T> T getObject(Class<T> type) {
        return getObject(type, new SafeFilter(type));
    }

    /**
     * Returns an object, with a filter of the program for its classes. Java's own filter for all
     * streams, if one is set, must allow a class, too.
     */
    public <T> T getObject(Class<T> type, ObjectInputFilter filter) {
        java.util.Objects.requireNonNull(filter, "a filter is needed");
        int length = getInt();
        if (length < 0 || length > message.left()) {
            throw new PvmException(Code.BAD_MSG, "no Java object in the " + message.info());
        }
        return Serialized.read(getBytes(length), type, filter, message.info());
    }

    /**
     * Returns a read-only view of the next items, without a copy. With the native engine it is
     * valid until the message is closed; using it then throws {@link IllegalStateException}. With
     * the wire engine it stays valid. {@code Segments} (Java 22) returns the view as a segment.
     * Closing the message while another thread is inside a bulk operation on the view throws
     * IllegalStateException and closes nothing. Keep a reference to the message as long as you use
     * the view. A faulty sender can change the items while they are read.
     *
     * @throws PvmException {@link Code#NOT_IMPL} if the items would have to be converted; they can
     *     still be unpacked
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

    /** Does what {@link #view} does. */
    public IntBuffer viewInts(int count) {
        return view(Kind.INT, count).asIntBuffer();
    }

    /** Does what {@link #view} does. */
    public LongBuffer viewLongs(int count) {
        return view(Kind.LONG, count).asLongBuffer();
    }

    /** Does what {@link #view} does. */
    public FloatBuffer viewFloats(int count) {
        return view(Kind.FLOAT, count).asFloatBuffer();
    }

    /** Does what {@link #view} does. */
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
