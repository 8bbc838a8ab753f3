// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.IntBuffer;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.neopvm.engine.Kind;

/** Wrong types, short messages, closed ones, dead partners: an exception that says what it was, and nothing worse. */
class BadInputTest extends Connected {
    private static String fails(Code code, Executable what) {
        PvmException e = assertThrows(PvmException.class, what);
        assertEquals(code, e.code(), e.getMessage());
        return e.getMessage();
    }

    private Message own(Draft draft) throws InterruptedException {
        draft.to(pvm.self(), 17);
        return Machine.receive(pvm, pvm.self(), 17);
    }

    @Test
    void aShortMessageNamesTaskTagAndCauseAndCanBeReadAgain() throws Exception {
        try (Message message = own(pvm.message().put(5).put(6))) {
            for (int count : new int[] {100_000, Integer.MAX_VALUE, 3}) {
                String text = fails(Code.NO_DATA, () -> message.getInts(count));
                assertTrue(text.contains(pvm.self() + " with tag 17") && text.contains("PvmNoData"), text);
            }
            fails(Code.NO_DATA, message::getInt);
            message.rewind();
            fails(Code.NO_DATA, () -> message.into(Kind.INT, new int[50_000], 0, 50_000, 1));
            message.rewind();
            assertEquals(5, message.getInt());
            fails(Code.NO_DATA, () -> message.viewInts(2));
            assertEquals(6, message.getInt());
            fails(Code.NO_DATA, message::getByte);
            fails(Code.NO_DATA, message::getString);
            fails(Code.NO_DATA, () -> message.getObject(String.class));
        }
    }

    @Test
    void aWrongTypeIsAnErrorOrANumberButNoCrash() throws Exception {
        try (Message message = own(pvm.message().put(1.5))) {
            assertThrows(PvmException.class, message::getString);
        }
        try (Message message = own(pvm.message().put("some text"))) {
            assertThrows(PvmException.class, () -> message.getDoubles(1000));
        }
        try (Message message = own(pvm.message(Encoding.RAW).put(-1))) {
            assertThrows(PvmException.class, message::getString);
        }
    }

    @Test
    void whatIsNoObjectIsNotReadAsOne() throws Exception {
        byte[] rubbish = {1, 2, 3, 4};
        byte[] magic = {(byte) 0xac, (byte) 0xed, 0, 5, 0x7e, 0, 0, 0};
        try (Message message = own(pvm.message().put(4).put(rubbish).put(8).put(magic).put(-5).put(1 << 30))) {
            fails(Code.BAD_MSG, () -> message.getObject(Object.class));
            fails(Code.BAD_MSG, () -> message.getObject(Object.class));
            fails(Code.BAD_MSG, () -> message.getObject(Object.class));
            fails(Code.BAD_MSG, () -> message.getObject(Object.class));
            assertThrows(NullPointerException.class, () -> message.getObject(Object.class, null));
        }
        try (Message message = own(pvm.message().putObject("text"))) {
            fails(Code.BAD_MSG, () -> message.getObject(Integer.class));
        }
    }

    @Test
    void aClosedMessageSaysSo() throws Exception {
        Message message = own(pvm.message(Encoding.RAW).put(new int[1000]));
        IntBuffer view = message.viewInts(10);
        message.close();
        message.close();
        assertTrue(fails(Code.NO_SUCH_BUF, message::getInt).contains("tag 17"));
        fails(Code.NO_SUCH_BUF, message::left);
        fails(Code.NO_SUCH_BUF, message::rewind);
        fails(Code.NO_SUCH_BUF, () -> message.getInts(0));
        if (pvm.engine().equals("native")) {
            assertThrows(IllegalStateException.class, () -> view.get(0));
        } else {
            assertEquals(0, view.get(0), "Java's own memory cannot be taken back");
        }
        assertEquals(17, message.tag());

        Draft draft = pvm.message();
        draft.close();
        draft.close();
        fails(Code.NO_SUCH_BUF, () -> draft.put(1));
        fails(Code.NO_SUCH_BUF, () -> draft.put("a"));
        fails(Code.NO_SUCH_BUF, () -> draft.send(pvm.self(), 1));
    }

    @Test
    void nonsenseIsRefused() {
        fails(Code.BAD_PARAM, () -> pvm.message().to(new TaskId(0), 1));
        fails(Code.BAD_PARAM, () -> pvm.message().to(pvm.self(), -1));
        fails(Code.BAD_PARAM, () -> pvm.message().put("a\0b"));
        fails(Code.BAD_PARAM, () -> pvm.message().put(Kind.INT, new int[3], 0, 2, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> pvm.message().put(Kind.INT, new int[3], 0, 3, 2));
        assertThrows(IndexOutOfBoundsException.class, () -> pvm.message().put(Kind.INT, new int[3], -1, 1, 1));
        assertThrows(ClassCastException.class, () -> pvm.message().put(Kind.INT, new long[3], 0, 1, 1));
        java.util.ArrayList<Object> list = new java.util.ArrayList<>(java.util.List.of(new Object()));
        fails(Code.BAD_PARAM, () -> pvm.message().putObject(list));
    }

    @Test
    void aDeadPartnerIsToldAndSendingToItIsNoError() throws Exception {
        TaskId partner = Machine.partner(pvm, "die");
        CountDownLatch told = new CountDownLatch(1);
        try (Subscription exits = pvm.onExit(java.util.List.of(partner), exit -> {
            if (exit.task().equals(partner)) {
                told.countDown();
            }
        })) {
            pvm.message().to(partner, 1);
            assertTrue(told.await(Machine.LONG.toSeconds(), TimeUnit.SECONDS));
        }
        pvm.message().put(1).to(partner, 1);
        // The table of tasks may know it for a moment longer.
        for (int i = 0; pvm.isAlive(partner) && i < 1000; i++) {
            Thread.sleep(20);
        }
        assertEquals(false, pvm.isAlive(partner));
    }

    @Test
    void aViewOutlivesTheTaskThatSentIt() throws Exception {
        TaskId partner = Machine.partner(pvm, "echo");
        try (Draft draft = pvm.message()) {
            for (int i = 0; i < 2; i++) {
                int count = i == 0 ? 1 : 5;
                draft.put(new byte[count]).put(new short[count]).put(new char[count]).put(new int[count])
                        .put(new long[count]).put(new float[count]).put(new double[count]);
                if (i == 0) {
                    draft.put("x".repeat(200));
                }
            }
            draft.send(partner, 5);
        }
        try (Message message = Machine.receive(pvm, partner, 6)) {
            java.nio.ByteBuffer view = message.view(Kind.BYTE, 1);
            CountDownLatch told = new CountDownLatch(1);
            pvm.onExit(java.util.List.of(partner), exit -> told.countDown());
            pvm.signal(partner, 9);
            assertTrue(told.await(Machine.LONG.toSeconds(), TimeUnit.SECONDS));
            assertEquals(0, view.get(0));
            assertEquals(0, message.getShort());
        }
    }

    @Test
    void oneMessageReadAndClosedByManyThreadsIsReadOrClosed() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 50; round++) {
                Message message = own(pvm.message().put(new int[200]));
                CountDownLatch go = new CountDownLatch(1);
                java.util.List<Future<Integer>> readers = new java.util.ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    readers.add(threads.submit(() -> {
                        go.await();
                        int read = 0;
                        try {
                            for (; read < 50; read++) {
                                assertEquals(0, message.getInt());
                            }
                        } catch (PvmException e) {
                            assertEquals(Code.NO_SUCH_BUF, e.code());
                        }
                        return read;
                    }));
                }
                Future<?> closer = threads.submit(() -> {
                    go.await();
                    message.close();
                    return null;
                });
                go.countDown();
                closer.get();
                for (Future<Integer> reader : readers) {
                    assertTrue(reader.get() <= 50);
                }
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void afterClosingTheConnectionCallsSaySo() throws Exception {
        // In a connection of its own, so that the task that others use stays.
        Pvm other = Machine.connect();
        other.close();
        other.close();
        try (Pvm third = Machine.connect()) {
            assertEquals(pvm.self(), third.self());
        }
    }

    @Test
    void whatGoesToANumberThatNobodyCanHaveIsLostAsInPvm() {
        pvm.message().put(1).to(new TaskId(1), 5);
        pvm.message().put(1).toAll(List.of(new TaskId(1), new TaskId(2)), 5);
        fails(Code.BAD_PARAM, () -> pvm.message().put(1).to(new TaskId(0), 5));
    }
}
