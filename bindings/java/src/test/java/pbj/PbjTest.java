// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ObjectInputFilter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The classes of PBJ, each method that its document names or uses. */
class PbjTest {
    private static final PVMTask TASK = new PVMTask();
    private static final String PARTNER = System.getProperty("test.programs") + "/partner";
    private static final int LONG_S = 120;

    @AfterAll
    static void leave() throws PVMException {
        TASK.exit();
    }

    private static int reason(Executable what) {
        return assertThrows(PVMException.class, what).getReason();
    }

    private static PVMMessageBuffer own(PVMMessageBuffer buffer, int tag) throws PVMException {
        buffer.send(TASK.myTID(), tag);
        buffer.freeBuffer();
        return TASK.receive(TASK.myTID(), tag);
    }

    @Test
    void everyTypeComesBack() throws PVMException {
        for (int encoding : new int[] {PVMConstants.PvmDataDefault, PVMConstants.PvmDataRaw}) {
            PVMMessageBuffer buffer = PVMMessageBuffer.makeBuffer(encoding);
            buffer.pack(true);
            buffer.pack((byte) 1);
            buffer.pack('c');
            buffer.pack((short) 2);
            buffer.pack(3);
            buffer.pack(4L);
            buffer.pack(5f);
            buffer.pack(6.0);
            buffer.pack("seven");
            buffer.pack(new boolean[] {true, false, true}, 2);
            buffer.pack(new byte[] {1, 2, 3}, 2);
            buffer.pack(new char[] {'a', 'b', 'c'}, 2);
            buffer.pack(new short[] {1, 2, 3}, 2);
            buffer.pack(new int[] {1, 2, 3}, 2);
            buffer.pack(new long[] {1, 2, 3}, 2);
            buffer.pack(new float[] {1, 2, 3}, 2);
            buffer.pack(new double[] {1, 2, 3}, 2);
            buffer.pack(new int[] {8, 9});
            PVMMessageBuffer got = own(buffer, 1);
            assertEquals(1, got.getMessageTag());
            assertEquals(TASK.myTID(), got.getSenderTID());
            assertTrue(got.unPackBoolean());
            assertEquals(1, got.unPackByte());
            assertEquals('c', got.unPackChar());
            assertEquals(2, got.unPackShort());
            assertEquals(3, got.unPackInt());
            assertEquals(4, got.unPackLong());
            assertEquals(5, got.unPackFloat());
            assertEquals(6, got.unPackDouble());
            assertEquals("seven", got.unPackString());
            assertArrayEquals(new boolean[] {true, true}, got.unPackBoolean(2));
            assertArrayEquals(new byte[] {1, 3}, got.unPackByte(2));
            assertArrayEquals(new char[] {'a', 'c'}, got.unPackChar(2));
            assertArrayEquals(new short[] {1, 3}, got.unPackShort(2));
            assertArrayEquals(new int[] {1, 3}, got.unPackInt(2));
            assertArrayEquals(new long[] {1, 3}, got.unPackLong(2));
            assertArrayEquals(new float[] {1, 3}, got.unPackFloat(2));
            assertArrayEquals(new double[] {1, 3}, got.unPackDouble(2));
            assertArrayEquals(new int[] {8, 9}, got.unPackInt(2));
            got.freeBuffer();
            got.freeBuffer();
        }
    }

    @Test
    void aReasonCanBeSwitchedOn() {
        try {
            PVMMessageBuffer.makeBuffer(77);
        } catch (PVMException e) {
            switch (e.getReason()) {
                case PVMException.PvmBadParam:
                    assertEquals("an argument is invalid", PVM.pvm_errlist[-1 * e.getReason()]);
                    return;
                default:
                    break;
            }
        }
        throw new AssertionError("an encoding that there is not");
    }

    @Test
    void badInputIsAnExceptionWithItsReason() throws PVMException {
        PVMMessageBuffer sending = PVMMessageBuffer.makeBuffer();
        assertEquals(PVMException.PvmBadParam, reason(sending::unPackInt));
        assertEquals(PVMException.PvmBadParam, reason(sending::getMessageTag));
        assertEquals(PVMException.PvmBadParam, reason(() -> sending.pack(new ArrayList<>())));
        assertEquals(PVMException.PvmBadParam, reason(() -> sending.pack(new int[2], 0)));
        assertEquals(PVMException.PvmBadParam, reason(() -> sending.pack((String) null)));
        assertEquals(PVMException.PvmNotImpl, reason(() -> PVMMessageBuffer.makeBuffer(PVMConstants.PvmDataInPlace)));
        sending.pack(1);
        PVMMessageBuffer got = own(sending, 2);
        assertEquals(PVMException.PvmNoSuchBuf, reason(() -> sending.pack(1)));
        assertEquals(PVMException.PvmNoData, reason(() -> got.unPackDouble(50)));
        assertEquals(PVMException.PvmBadParam, reason(() -> got.pack(1)));
        assertEquals(PVMException.PvmBadParam, reason(() -> got.unPackInt(-1)));
        got.freeBuffer();
        assertEquals(PVMException.PvmNoSuchBuf, reason(got::unPackInt));
        int[] tids = new int[1];
        assertEquals(0, PVM.getInstance().spawn("/no/such/program", tids));
        assertEquals(PVMException.PvmNoFile, tids[0]);
    }

    @Test
    void objectsGoRawAndThroughAFilter() throws PVMException {
        PVMMessageBuffer buffer = PVMMessageBuffer.makeBuffer(PVMConstants.PvmDataRaw);
        buffer.pack(new ArrayList<>(List.of(1, 2)));
        buffer.pack(new java.awt.Point(3, 4));
        buffer.pack(new java.awt.Point(5, 6));
        PVMMessageBuffer got = own(buffer, 3);
        assertEquals(List.of(1, 2), got.unPackObject());
        assertEquals(PVMException.PvmDenied, reason(got::unPackObject));
        got.setObjectFilter(ObjectInputFilter.Config.createFilter("java.awt.*;!*"));
        assertEquals(new java.awt.Point(5, 6), got.unPackObject());
        assertThrows(NullPointerException.class, () -> got.setObjectFilter(null));
        got.freeBuffer();
    }

    @Test
    void receivesWithoutAMessageGiveNull() throws PVMException {
        assertNull(TASK.nonBlockingReceive(-1, 4));
        assertNull(TASK.timedReceive(-1, 4, new TimeVal(0, 1000)));
        PVMMessageBuffer buffer = PVMMessageBuffer.makeBuffer();
        buffer.send(TASK.myTID(), 4);
        assertTrue(TASK.probe(-1, 4));
        assertNotEquals(null, TASK.timedReceive(-1, 4, new TimeVal(LONG_S, 0)));
        buffer.send(TASK.myTID(), 4);
        assertNotEquals(null, TASK.nonBlockingReceive(-1, 4));
    }

    @Test
    void listenersGetWhatTheyLookFor() throws Exception {
        PVMTask task = new PVMTask();
        ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
        CountDownLatch all = new CountDownLatch(20);
        for (int tag = 500; tag < 502; tag++) {
            int wanted = tag;
            task.addPVMMessageBufferListener(new PVMMessageBufferAdapter() {
                @Override
                public int lookingForMessageTag() {
                    return wanted;
                }

                @Override
                public void receivedPVMMessageBuffer(PVMMessageBuffer buffer) {
                    try {
                        assertEquals(wanted, buffer.getMessageTag());
                        log.add(wanted + ":" + buffer.unPackInt());
                        buffer.freeBuffer();
                        all.countDown();
                        if (all.getCount() == 10) {
                            throw new IllegalStateException("a listener that fails, on purpose");
                        }
                        if (all.getCount() == 15) {
                            throw new StackOverflowError("a listener that fails, on purpose");
                        }
                    } catch (PVMException e) {
                        log.add(e.toString());
                    }
                }
            });
        }
        task.enableMessageEvents(100);
        try {
            for (int i = 0; i < 20; i++) {
                PVMMessageBuffer buffer = PVMMessageBuffer.makeBuffer();
                buffer.pack(i);
                buffer.send(task.myTID(), 500 + i % 2);
                buffer.freeBuffer();
            }
            assertTrue(all.await(LONG_S, TimeUnit.SECONDS), log.toString());
        } finally {
            task.disableMessageEvents();
        }
        for (int tag = 500; tag < 502; tag++) {
            int wanted = tag;
            List<String> of = log.stream().filter(line -> line.startsWith(wanted + ":")).toList();
            assertEquals(java.util.stream.IntStream.range(0, 10).mapToObj(i -> wanted + ":" + (2 * i + wanted - 500))
                    .toList(), of);
        }
    }

    @Test
    void theMachineIsSeen() throws Exception {
        PVM pvm = PVM.getInstance();
        PVMHostInfo[] hosts = pvm.config();
        assertEquals(2, hosts.length);
        int[] tids = new int[2];
        assertEquals(2, pvm.spawn(PARTNER, new String[] {"silent"}, PVMConstants.PvmTaskHost, hosts[1].getName(), tids));
        pvm.notify(PVMConstants.PvmTaskExit, 600, tids);
        int seen = 0;
        for (PVMTaskInfo task : pvm.alltasks()) {
            if (task.getTID() == tids[0] || task.getTID() == tids[1]) {
                assertEquals(hosts[1].getTID(), task.getHostTID());
                assertEquals(TASK.myTID(), task.getParentTID());
                assertEquals(hosts[1].getTID(), pvm.tidToHost(task.getTID()));
                seen++;
            }
        }
        assertEquals(2, seen);
        pvm.kill(tids[0]);
        pvm.sendSignal(tids[1], 9);
        for (int i = 0; i < 2; i++) {
            PVMMessageBuffer notice = TASK.timedReceive(-1, 600, new TimeVal(LONG_S, 0));
            int gone = notice.unPackInt();
            assertTrue(gone == tids[0] || gone == tids[1]);
            notice.freeBuffer();
        }
    }

    @Test
    void aGroupDoesItsWork() throws PVMException {
        PVMGroup group = new PVMGroup("pbj-" + ProcessHandle.current().pid());
        assertEquals(PVMException.PvmNotInGroup, reason(group::getInstance));
        assertEquals(0, group.join());
        assertEquals(PVMException.PvmDupGroup, reason(group::join));
        assertEquals(0, group.getInstance());
        assertEquals(1, group.size());
        assertEquals(TASK.myTID(), group.getTID(0));
        assertEquals(PVMException.PvmNoInst, reason(() -> group.getTID(3)));
        group.barrier();
        assertArrayEquals(new int[] {1, 2}, group.gatherInt(new int[] {1, 2}, 1, 0));
        assertArrayEquals(new double[] {1, 2}, group.scatterDouble(new double[] {1, 2}, 2, 1, 0));
        assertArrayEquals(new long[] {1, 2}, group.reduceLong(PVMGroup.PvmSum, new long[] {1, 2}, 1, 0));
        assertArrayEquals(new float[] {3}, group.reduceFloat((a, b) -> a * b, new float[] {3}, 1, 0));
        assertEquals(PVMException.PvmBadParam, reason(() -> group.reduceInt(9, new int[1], 1, 0)));
        PVMMessageBuffer buffer = PVMMessageBuffer.makeBuffer();
        group.broadcast(buffer, 1);
        assertNull(TASK.nonBlockingReceive(-1, 1));
        assertEquals(1, group.freeze(1));
        assertTrue(group.isFrozen());
        assertEquals(1, group.size());
        group.leave();
    }

    @Test
    void twoClassLoadersOfOneProcessWorkSideBySide() throws Exception {
        URL jar = Path.of(System.getProperty("test.jar")).toUri().toURL();
        try (URLClassLoader other = new URLClassLoader(new URL[] {jar}, ClassLoader.getPlatformClassLoader())) {
            Class<?> task = other.loadClass("pbj.PVMTask");
            assertNotEquals(PVMTask.class, task);
            Object instance = task.getConstructor().newInstance();
            int tid = (int) task.getMethod("myTID").invoke(instance);
            assertTrue(tid > 0);
            // From here to there and back.
            PVMMessageBuffer buffer = PVMMessageBuffer.makeBuffer();
            buffer.pack(42);
            buffer.send(tid, 700);
            Object got = task.getMethod("receive", int.class, int.class).invoke(instance, TASK.myTID(), 700);
            assertEquals(42, got.getClass().getMethod("unPackInt").invoke(got));
            Object back = other.loadClass("pbj.PVMMessageBuffer").getMethod("makeBuffer").invoke(null);
            back.getClass().getMethod("pack", int.class).invoke(back, 43);
            back.getClass().getMethod("send", int.class, int.class).invoke(back, TASK.myTID(), 701);
            assertEquals(43, TASK.receive(tid, 701).unPackInt());
        }
    }
}
