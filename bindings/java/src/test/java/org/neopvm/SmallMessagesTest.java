// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.neopvm.engine.Kind;

/**
 * Messages of few items of one type, which with the native engine go in one call each way and never have a buffer there:
 * they are sent and read as all others are.
 */
class SmallMessagesTest extends Connected {
    private static final int TAG = 21;

    private Message own(Draft draft) throws InterruptedException {
        draft.to(pvm.self(), TAG);
        return pvm.receive(pvm.self(), TAG);
    }

    private static final Kind[] KINDS = {Kind.BYTE, Kind.SHORT, Kind.CHAR, Kind.INT, Kind.LONG, Kind.FLOAT, Kind.DOUBLE};

    private static Draft put(Draft draft, Kind kind, int count, Random random) {
        for (int i = 0; i < count; i++) {
            switch (kind) {
                case BYTE -> draft.put((byte) random.nextInt());
                case SHORT -> draft.put((short) random.nextInt());
                case CHAR -> draft.put((char) random.nextInt());
                case INT -> draft.put(random.nextInt());
                case LONG -> draft.put(random.nextLong());
                case FLOAT -> draft.put(random.nextFloat());
                case DOUBLE -> draft.put(random.nextDouble());
            }
        }
        return draft;
    }

    private static Object get(Message message, Kind kind) {
        try {
            return switch (kind) {
                case BYTE -> message.getByte();
                case SHORT -> message.getShort();
                case CHAR -> message.getChar();
                case INT -> message.getInt();
                case LONG -> message.getLong();
                case FLOAT -> message.getFloat();
                case DOUBLE -> message.getDouble();
            };
        } catch (PvmException e) {
            return e.code();
        }
    }

    /** What is read, as whatever type, is what a message gives that is too large for the one call. */
    @Test
    void everyTypeIsReadAsEveryOtherLikeInALargeMessage() throws InterruptedException {
        Random random = new Random(5);
        for (int round = 0; round < 300; round++) {
            Encoding encoding = random.nextInt(4) == 0 ? Encoding.RAW : Encoding.DEFAULT;
            Kind packed = KINDS[random.nextInt(KINDS.length)];
            int count = 1 + random.nextInt(8);
            long seed = random.nextLong();
            try (Message small = own(put(pvm.message(encoding), packed, count, new Random(seed)));
                    Message large = own(put(pvm.message(encoding), packed, count, new Random(seed)).put(new double[50]))) {
                long behind = large.left() - small.left();
                while (small.left() > 0) {
                    Kind read = random.nextInt(3) == 0 ? KINDS[random.nextInt(KINDS.length)] : packed;
                    // Beyond the end of the small one the other has more.
                    int needed = encoding == Encoding.RAW ? read.size() : read == Kind.DOUBLE ? 8 : 4;
                    if (needed > small.left()) {
                        break;
                    }
                    String what = encoding + " " + packed + " as " + read;
                    assertEquals(get(large, read), get(small, read), what);
                    assertEquals(large.left() - behind, small.left(), what);
                    if (random.nextInt(6) == 0) {
                        small.rewind();
                        large.rewind();
                    }
                }
            }
        }
    }

    @Test
    void aMessageThatOutgrowsTheOneCallKeepsWhatWasPackedBefore() throws InterruptedException {
        for (int ints = 0; ints < 40; ints++) {
            Draft draft = pvm.message();
            for (int i = 0; i < ints; i++) {
                draft.put(i);
            }
            int[] array = new int[ints];
            try (Message message = own(draft.put(array).put(7L).put("text").put(new int[] {1, 2}))) {
                for (int i = 0; i < ints; i++) {
                    assertEquals(i, message.getInt());
                }
                assertArrayEquals(array, message.getInts(ints));
                assertEquals(7, message.getLong());
                assertEquals("text", message.getString());
                assertArrayEquals(new int[] {1, 2}, message.getInts(2));
                assertEquals(0, message.left());
            }
        }
    }

    @Test
    void aMessageIsSentSeveralTimesAndGrowsInBetween() throws InterruptedException {
        try (Draft draft = pvm.message()) {
            for (int sent = 0; sent < 20; sent++) {
                draft.put((short) sent).send(pvm.self(), TAG).send(pvm.self(), TAG);
            }
        }
        for (int sent = 0; sent < 20; sent++) {
            for (int twice = 0; twice < 2; twice++) {
                try (Message message = pvm.receive(pvm.self(), TAG)) {
                    assertEquals(new MessageInfo(pvm.self().number(), TAG, message.info().context(), Encoding.DEFAULT,
                            4L * (sent + 1)), message.info());
                    for (short i = 0; i <= sent; i++) {
                        assertEquals(i, message.getShort());
                    }
                    assertEquals(Code.NO_DATA, assertThrows(PvmException.class, message::getShort).code());
                }
            }
        }
    }

    @Test
    void bytesOfTwoCallsArePaddedAsTwoCalls() throws InterruptedException {
        try (Message message = own(pvm.message().put((byte) 1).put((byte) 2).put(new byte[] {3, 4, 5}))) {
            assertEquals(12, message.info().bytes());
            assertEquals(1, message.getByte());
            assertEquals(2, message.getByte());
            assertArrayEquals(new byte[] {3, 4, 5}, message.getBytes(3));
        }
        try (Message message = own(pvm.message().put(new byte[] {3, 4, 5}))) {
            assertEquals(4, message.info().bytes());
            assertArrayEquals(new byte[] {3, 4, 5}, message.getBytes(3));
        }
    }

    @Test
    void threadsThatReadOneMessageGetEachItemOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 200; round++) {
                Draft draft = pvm.message();
                for (int i = 0; i < 16; i++) {
                    draft.put(i);
                }
                try (Message message = own(draft)) {
                    List<Future<List<Integer>>> parts = new ArrayList<>();
                    boolean alone = round % 2 == 0;
                    for (int thread = 0; thread < 4; thread++) {
                        boolean other = !alone && thread == 0;
                        parts.add(threads.submit(() -> {
                            List<Integer> got = new ArrayList<>();
                            for (int i = 0; i < 4; i++) {
                                // Two shorts in the place of an int go the other way, and take it with them.
                                got.add(other && i == 2 ? message.getInts(1)[0] : message.getInt());
                            }
                            return got;
                        }));
                    }
                    boolean[] seen = new boolean[16];
                    for (Future<List<Integer>> part : parts) {
                        for (int item : part.get()) {
                            assertEquals(false, seen[item], "twice");
                            seen[item] = true;
                        }
                    }
                    assertEquals(0, message.left());
                }
            }
        } finally {
            threads.shutdown();
        }
    }

    @Test
    void whatIsClosedSaysSoWhicheverWayItWasRead() throws InterruptedException {
        for (boolean converted : new boolean[] {false, true}) {
            Message message = own(pvm.message().put(1).put(2));
            if (converted) {
                message.getShort();
            }
            message.close();
            message.close();
            assertEquals(Code.NO_SUCH_BUF, assertThrows(PvmException.class, message::getInt).code());
            assertEquals(Code.NO_SUCH_BUF, assertThrows(PvmException.class, message::rewind).code());
            assertEquals(Code.NO_SUCH_BUF, assertThrows(PvmException.class, message::left).code());
            assertEquals(pvm.self(), message.source());
        }
        Draft draft = pvm.message().put(1);
        draft.close();
        assertEquals(Code.NO_SUCH_BUF, assertThrows(PvmException.class, () -> draft.put(2)).code());
        assertEquals(Code.NO_SUCH_BUF, assertThrows(PvmException.class, () -> draft.to(pvm.self(), TAG)).code());
    }

    @Test
    void whatIsClosedWasClosedAgainWhileItWasReadAsAnotherType() throws Exception {
        ExecutorService other = Executors.newSingleThreadExecutor();
        try {
            for (int round = 0; round < 3000; round++) {
                Message message = own(pvm.message().put(1).put(2));
                message.close();
                Future<?> closing = other.submit(() -> {
                    for (int i = 0; i < 20; i++) {
                        message.close();
                    }
                });
                for (int i = 0; i < 20; i++) {
                    assertEquals(Code.NO_SUCH_BUF, assertThrows(PvmException.class, message::getShort).code());
                }
                closing.get();
            }
        } finally {
            other.shutdown();
        }
    }

    @Test
    void integersWereReadAsAText() throws InterruptedException {
        for (int behind : new int[] {0, 100}) {
            try (Message message = own(pvm.message().put(1).put(2).put(new int[behind]))) {
                assertEquals(Code.MISMATCH, assertThrows(PvmException.class, message::getString).code());
                assertEquals(1, message.getInt());
            }
        }
    }
}
