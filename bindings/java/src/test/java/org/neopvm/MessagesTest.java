// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.neopvm.engine.Kind;

/** What is packed is read again, in both encodings, by this task and by C programs. */
class MessagesTest extends Connected {
    private static final byte[] BYTES = {-128, -1, 0, 1, 127};
    private static final short[] SHORTS = {-32768, -1, 0, 1, 32767};
    private static final char[] CHARS = {0, 1, 'a', '\u20ac', '\uffff'};
    private static final int[] INTS = {Integer.MIN_VALUE, -1, 0, 1, Integer.MAX_VALUE};
    private static final long[] LONGS = {Long.MIN_VALUE, -1, 0, 1L << 40, Long.MAX_VALUE};
    private static final float[] FLOATS = {-1.5f, 0, Float.MIN_VALUE, Float.MAX_VALUE, Float.POSITIVE_INFINITY};
    private static final double[] DOUBLES = {-1.5, 0, Double.MIN_VALUE, Double.MAX_VALUE, Double.NEGATIVE_INFINITY};

    private static Draft all(Draft draft) {
        return draft.put((byte) -7).put((short) -300).put('\u00e4').put(123456789).put(-(1L << 50)).put(2.5f)
                .put(-1e300).put("Gr\u00fc\u00dfe, \u4f60\u597d")
                .put(BYTES).put(SHORTS).put(CHARS).put(INTS).put(LONGS).put(FLOATS).put(DOUBLES);
    }

    private static void check(Message message) {
        assertEquals(-7, message.getByte());
        assertEquals(-300, message.getShort());
        assertEquals('\u00e4', message.getChar());
        assertEquals(123456789, message.getInt());
        assertEquals(-(1L << 50), message.getLong());
        assertEquals(2.5f, message.getFloat());
        assertEquals(-1e300, message.getDouble());
        assertEquals("Gr\u00fc\u00dfe, \u4f60\u597d", message.getString());
        assertArrayEquals(BYTES, message.getBytes(5));
        assertArrayEquals(SHORTS, message.getShorts(5));
        assertArrayEquals(CHARS, message.getChars(5));
        assertArrayEquals(INTS, message.getInts(5));
        assertArrayEquals(LONGS, message.getLongs(5));
        assertArrayEquals(FLOATS, message.getFloats(5));
        assertArrayEquals(DOUBLES, message.getDoubles(5));
        assertEquals(0, message.left());
    }

    @ParameterizedTest
    @EnumSource
    void everyTypeComesBack(Encoding encoding) throws Exception {
        all(pvm.message(encoding)).to(pvm.self(), 1);
        try (Message message = Machine.receive(pvm, pvm.self(), 1)) {
            assertEquals(encoding, message.info().encoding());
            check(message);
            check(message.rewind());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 7})
    void everyTypeGoesThroughCAndBack(int tag) throws Exception {
        TaskId partner = Machine.partner(pvm, "echo");
        all(pvm.message(tag == 7 ? Encoding.RAW : Encoding.DEFAULT)).to(partner, tag);
        try (Message message = Machine.receive(pvm, partner, tag + 1)) {
            check(message);
        }
        pvm.message().to(partner, 99);
    }

    @Test
    void booleansAreBytes() throws Exception {
        boolean[] some = {true, false, true};
        pvm.message().put(true).put(false).put(some).to(pvm.self(), 1);
        try (Message message = Machine.receive(pvm, pvm.self(), 1)) {
            assertTrue(message.getBoolean());
            assertEquals(0, message.getByte());
            assertArrayEquals(some, message.getBooleans(3));
        }
    }

    /** The native engine takes another way for small, for larger and for large arrays: 4096 bytes and 1 MiB are the limits. */
    @ParameterizedTest
    @ValueSource(ints = {1, 1023, 1024, 1025, 262_143, 262_144, 262_145, 700_001})
    void arraysOfEverySizeComeBack(int count) throws Exception {
        int[] ints = java.util.stream.IntStream.range(0, count + 3).toArray();
        double[] doubles = java.util.stream.IntStream.range(0, count).asDoubleStream().toArray();
        pvm.message().put(Kind.INT, ints, 2, count, 1).put(doubles).put(Kind.INT, ints, 0, count / 2, 2).put(7)
                .to(pvm.self(), 1);
        try (Message message = Machine.receive(pvm, pvm.self(), 1)) {
            int[] read = new int[count + 5];
            message.into(Kind.INT, read, 4, count, 1);
            for (int i = 0; i < read.length; i++) {
                assertEquals(i < 4 || i >= count + 4 ? 0 : i - 2, read[i]);
            }
            assertArrayEquals(doubles, message.getDoubles(count));
            int[] apart = new int[count + 3];
            message.into(Kind.INT, apart, 1, count / 2, 2);
            for (int i = 0; i < count / 2; i++) {
                assertEquals(2 * i, apart[2 * i + 1]);
                assertEquals(0, apart[2 * i]);
            }
            assertEquals(7, message.getInt());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4095, 4096, 4097, 100_000})
    void textsOfEveryLengthComeBack(int length) throws Exception {
        String text = "x".repeat(length);
        pvm.message().put(text).put("the next").to(pvm.self(), 1);
        try (Message message = Machine.receive(pvm, pvm.self(), 1)) {
            assertEquals(text, message.getString());
            assertEquals("the next", message.getString());
        }
    }

    /** Memory that this process shares with others, in KiB. */
    private static long sharedKib() throws java.io.IOException {
        return java.nio.file.Files.readAllLines(java.nio.file.Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("RssShmem:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", ""))).sum();
    }

    @Test
    void whatIsForgottenIsGivenBack() throws Exception {
        int[] mebibyte = new int[262_144];
        for (int i = 0; i < 100; i++) {
            pvm.message().put(mebibyte);
            pvm.message().put(mebibyte).to(pvm.self(), 1);
            Machine.receive(pvm, pvm.self(), 1);
        }
        long end = System.nanoTime() + Machine.LONG.toNanos();
        // What the library keeps: 32 MiB of slabs, 40 MiB of what it has mapped to read, and rings. 200 MiB were sent or made.
        while (sharedKib() > 96 << 10) {
            assertTrue(System.nanoTime() < end, sharedKib() + " KiB are still shared");
            System.gc();
            Thread.sleep(20);
        }
    }

    @Test
    void everySecondItemIsPackedAndUnpacked() throws Exception {
        int[] items = {0, 1, 2, 3, 4, 5, 6};
        pvm.message().put(Kind.INT, items, 1, 3, 2).to(pvm.self(), 1);
        try (Message message = Machine.receive(pvm, pvm.self(), 1)) {
            int[] read = new int[8];
            message.into(Kind.INT, read, 0, 3, 3);
            assertArrayEquals(new int[] {1, 0, 0, 3, 0, 0, 5, 0}, read);
        }
    }

    @ParameterizedTest
    @EnumSource
    void largeArraysComeBack(Encoding encoding) throws Exception {
        // Larger than what is packed at once, not a multiple of it, and behind something that misaligns it.
        int[] ints = new int[1_300_001];
        double[] doubles = new double[300_003];
        for (int i = 0; i < ints.length; i++) {
            ints[i] = i * 31;
        }
        for (int i = 0; i < doubles.length; i++) {
            doubles[i] = i / 3.0;
        }
        pvm.message(encoding).put((byte) 1).put(ints).put(doubles)
                .put(Kind.INT, ints, 1, 400_000, 3).to(pvm.self(), 1);
        try (Message message = Machine.receive(pvm, pvm.self(), 1)) {
            assertEquals(1, message.getByte());
            assertArrayEquals(ints, message.getInts(ints.length));
            assertArrayEquals(doubles, message.getDoubles(doubles.length));
            int[] third = new int[ints.length];
            message.into(Kind.INT, third, 1, 400_000, 3);
            for (int i = 0; i < 400_000; i++) {
                assertEquals(ints[1 + 3 * i], third[1 + 3 * i]);
            }
            assertEquals(0, message.left());
        }
    }

    @Test
    void emptyMessagesAndArraysAreMessages() throws Exception {
        pvm.message().to(pvm.self(), 1);
        pvm.message().put(new int[0]).put("").put(new double[0]).to(pvm.self(), 2);
        try (Message none = Machine.receive(pvm, pvm.self(), 1);
                Message message = Machine.receive(pvm, TaskId.ANY, 2)) {
            assertEquals(0, none.info().bytes());
            assertEquals(0, message.getInts(0).length);
            assertEquals("", message.getString());
        }
    }

    @Test
    void messagesOfAPairStayInOrderAndAreSelectedByTag() throws Exception {
        for (int i = 0; i < 100; i++) {
            pvm.message().put(i).to(pvm.self(), 1 + i % 2);
        }
        for (int tag = 2; tag >= 1; tag--) {
            for (int i = tag - 1; i < 100; i += 2) {
                try (Message message = Machine.receive(pvm, pvm.self(), tag)) {
                    assertEquals(i, message.getInt());
                }
            }
        }
        assertTrue(pvm.poll(TaskId.ANY, Pvm.ANY_TAG).isEmpty());
    }

    @Test
    void aMessageIsSentSeveralTimes() throws Exception {
        try (Draft draft = pvm.message().put(42)) {
            for (int i = 0; i < 3; i++) {
                draft.send(pvm.self(), 1);
            }
            draft.put(43).send(pvm.self(), 1);
        }
        for (int i = 0; i < 4; i++) {
            try (Message message = Machine.receive(pvm, pvm.self(), 1)) {
                assertEquals(42, message.getInt());
                assertEquals(i == 3 ? 4 : 0, message.left());
            }
        }
    }

    @Test
    void aProbeTellsOfAMessageAndLeavesIt() throws Exception {
        assertTrue(pvm.probe(TaskId.ANY, 3).isEmpty());
        pvm.message(Encoding.RAW).put(new byte[10]).to(pvm.self(), 3);
        MessageInfo info = pvm.probe(TaskId.ANY, 3).orElseThrow();
        assertEquals(new MessageInfo(pvm.self().number(), 3, info.context(), Encoding.RAW, 10), info);
        pvm.poll(TaskId.ANY, 3).orElseThrow().close();
        assertTrue(pvm.probe(TaskId.ANY, 3).isEmpty());
    }

    @Test
    void aViewIsTheDataWhereTheyLie() throws Exception {
        int[] items = new int[10_000];
        for (int i = 0; i < items.length; i++) {
            items[i] = i;
        }
        pvm.message(Encoding.RAW).put(items).put(7).to(pvm.self(), 1);
        try (Message message = Machine.receive(pvm, pvm.self(), 1)) {
            IntBuffer view = message.viewInts(items.length);
            assertEquals(7, message.getInt());
            assertTrue(view.isReadOnly());
            for (int i = 0; i < items.length; i++) {
                assertEquals(i, view.get(i));
            }
        }
    }

    @Test
    void aPlaceInTheMessageIsWrittenBeforeItIsSent() throws Exception {
        try (Draft draft = pvm.message()) {
            IntBuffer place;
            try {
                place = draft.put((byte) 1).allocate(Kind.INT, 5000).asIntBuffer();
            } catch (PvmException e) {
                assertEquals(Code.NOT_IMPL, e.code());
                assertEquals("wire", pvm.engine());
                return;
            }
            for (int i = 0; i < 5000; i++) {
                place.put(i, -i);
            }
            draft.send(pvm.self(), 1);
        }
        try (Message message = Machine.receive(pvm, pvm.self(), 1)) {
            message.getByte();
            int[] items = message.getInts(5000);
            assertEquals(-4999, items[4999]);
        }
    }

    @Test
    void objectsOfTheAllowedClassesComeBack() throws Exception {
        ArrayList<String> list = new ArrayList<>(List.of("a", "b"));
        pvm.message(Encoding.RAW).putObject(list).putObject(new Own(3)).to(pvm.self(), 1);
        try (Message message = Machine.receive(pvm, pvm.self(), 1)) {
            assertEquals(list, message.getObject(ArrayList.class));
            assertEquals(new Own(3), message.getObject(Own.class));
        }
    }

    @Test
    void aClassThatTheFilterRefusesIsNotRead() throws Exception {
        pvm.message().putObject(new java.awt.Point(1, 2)).putObject(new Date(0)).to(pvm.self(), 1);
        try (Message message = Machine.receive(pvm, pvm.self(), 1)) {
            PvmException e = assertThrows(PvmException.class, () -> message.getObject(Object.class));
            assertEquals(Code.DENIED, e.code());
            assertTrue(e.getMessage().contains(pvm.self() + " with tag 1"), e.getMessage());
            // The one behind it is read all the same.
            assertEquals(new Date(0), message.getObject(Date.class));
        }
        assertFalse(pvm.probe(TaskId.ANY, 1).isPresent());
    }

    /** Of this package. */
    record Own(int number) implements java.io.Serializable {}

    @Test
    void bytesThatLieApartArriveAsTheyWereHoweverManyTheyAre() throws Exception {
        for (int stride : new int[] {3, 5, 300_000}) {
            int count = Math.min(400_003, 20_000_000 / stride);
            byte[] items = new byte[count * stride];
            for (int i = 0; i < count; i++) {
                items[i * stride] = (byte) (i % 251);
            }
            try (Draft draft = pvm.message()) {
                draft.put(Kind.BYTE, items, 0, count, stride).put(12345678).send(pvm.self(), 77);
            }
            try (Message message = Machine.receive(pvm, pvm.self(), 77)) {
                byte[] got = message.getBytes(count);
                for (int i = 0; i < count; i++) {
                    assertEquals((byte) (i % 251), got[i], "byte " + i + " with stride " + stride);
                }
                assertEquals(12345678, message.getInt());
            }
        }
    }

    @Test
    void aReceivedMessageIsSentOnWholeInEveryEncoding() throws Exception {
        for (Encoding encoding : Encoding.values()) {
            for (int count : new int[] {0, 1, 3, 70_000}) {
                byte[] bytes = new byte[count];
                java.util.Arrays.fill(bytes, (byte) count);
                pvm.message(encoding).put(bytes).put((short) 5).put(7L).put(2.5).to(pvm.self(), 78);
                Message first = Machine.receive(pvm, pvm.self(), 78);
                assertArrayEquals(bytes, first.getBytes(count));
                pvm.forward(first, pvm.self(), 79);
                assertEquals(5, first.getShort());
                first.close();
                assertEquals(Code.NO_SUCH_BUF, assertThrows(PvmException.class,
                        () -> pvm.forward(first, pvm.self(), 79)).code());
                try (Message second = Machine.receive(pvm, pvm.self(), 79)) {
                    assertEquals(encoding, second.info().encoding());
                    assertArrayEquals(bytes, second.getBytes(count));
                    assertEquals(5, second.getShort());
                    assertEquals(7, second.getLong());
                    assertEquals(2.5, second.getDouble());
                    assertEquals(0, second.left());
                }
            }
        }
    }

    @Test
    void aReceivedMessageOfOneTypeIsSentOnAsThatType() throws Exception {
        for (Encoding encoding : Encoding.values()) {
            pvm.message(encoding).put(new short[] {1, -2, 3}).to(pvm.self(), 78);
            try (Message first = Machine.receive(pvm, pvm.self(), 78)) {
                pvm.forward(first, pvm.self(), 79);
                first.getShort();
                // Half read, and by a type that it was not packed as.
                assertThrows(PvmException.class, () -> first.getDoubles(9));
                pvm.forward(first, pvm.self(), 79);
            }
            for (int i = 0; i < 2; i++) {
                try (Message second = Machine.receive(pvm, pvm.self(), 79)) {
                    assertArrayEquals(new short[] {1, -2, 3}, second.getShorts(3));
                    assertEquals(0, second.left());
                }
            }
        }
    }
}
