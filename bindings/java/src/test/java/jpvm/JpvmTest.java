// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.neopvm.Code;
import org.neopvm.Place;
import org.neopvm.Pvm;
import org.neopvm.TaskId;

/** The classes of JPVM, each method. */
class JpvmTest {
    private static final jpvmEnvironment JPVM = new jpvmEnvironment("a test");

    @AfterAll
    static void leave() {
        JPVM.pvm_exit();
    }

    private static Code reason(Executable what) {
        return assertThrows(jpvmException.class, what).code();
    }

    private static jpvmBuffer all() {
        jpvmBuffer buffer = new jpvmBuffer();
        buffer.pack(1);
        buffer.pack('c');
        buffer.pack((short) 2);
        buffer.pack(3L);
        buffer.pack((byte) 4);
        buffer.pack(5f);
        buffer.pack(6.0);
        buffer.pack(JPVM.pvm_mytid());
        buffer.pack((jpvmTaskId) null);
        buffer.pack("söven");
        buffer.pack(new int[] {1, 2, 3}, 2, 2);
        buffer.pack(new char[] {'a', 'b', 'c'}, 2, 2);
        buffer.pack(new short[] {1, 2, 3}, 2, 2);
        buffer.pack(new long[] {1, 2, 3}, 2, 2);
        buffer.pack(new byte[] {1, 2, 3}, 2, 2);
        buffer.pack(new float[] {1, 2, 3}, 2, 2);
        buffer.pack(new double[] {1, 2, 3}, 2, 2);
        buffer.pack(new jpvmTaskId[] {JPVM.pvm_mytid(), null, new jpvmTaskId("somewhere", 9)}, 2, 2);
        return buffer;
    }

    private static void check(jpvmBuffer got) {
        assertEquals(1, got.upkint());
        assertEquals('c', got.upkchar());
        assertEquals(2, got.upkshort());
        assertEquals(3, got.upklong());
        assertEquals(4, got.upkbyte());
        assertEquals(5, got.upkfloat());
        assertEquals(6, got.upkdouble());
        assertEquals(JPVM.pvm_mytid(), got.upktid());
        assertNull(got.upktid());
        assertEquals("söven", got.upkstr());
        int[] ints = new int[3];
        got.unpack(ints, 2, 2);
        assertArrayEquals(new int[] {1, 0, 3}, ints);
        char[] chars = new char[3];
        got.unpack(chars, 2, 2);
        assertArrayEquals(new char[] {'a', 0, 'c'}, chars);
        short[] shorts = new short[3];
        got.unpack(shorts, 2, 2);
        assertArrayEquals(new short[] {1, 0, 3}, shorts);
        long[] longs = new long[3];
        got.unpack(longs, 2, 2);
        assertArrayEquals(new long[] {1, 0, 3}, longs);
        byte[] bytes = new byte[3];
        got.unpack(bytes, 2, 2);
        assertArrayEquals(new byte[] {1, 0, 3}, bytes);
        float[] floats = new float[3];
        got.unpack(floats, 2, 2);
        assertArrayEquals(new float[] {1, 0, 3}, floats);
        double[] doubles = new double[3];
        got.unpack(doubles, 2, 2);
        assertArrayEquals(new double[] {1, 0, 3}, doubles);
        jpvmTaskId[] tids = new jpvmTaskId[3];
        got.unpack(tids, 2, 2);
        assertEquals(JPVM.pvm_mytid(), tids[0]);
        assertEquals(9, tids[2].getPort());
        assertEquals(Code.NO_DATA, reason(got::upkint));
    }

    @Test
    void everyTypeComesBackAndIsReadTwice() {
        jpvmBuffer sent = all();
        JPVM.pvm_send(sent, JPVM.pvm_mytid(), 1);
        JPVM.pvm_send(sent, JPVM.pvm_mytid(), 2);
        for (int tag = 1; tag <= 2; tag++) {
            jpvmMessage message = JPVM.pvm_recv(JPVM.pvm_mytid(), tag);
            assertEquals(tag, message.messageTag);
            assertTrue(message.sourceTid.equals(JPVM.pvm_mytid()));
            assertTrue(message.destTid.equals(JPVM.pvm_mytid()));
            check(message.buffer);
            message.buffer.rewind();
            check(message.buffer);
        }
    }

    @Test
    void aPackedBufferIsReadByTheOneThatPackedIt() {
        jpvmBuffer buffer = all();
        check(buffer);
        buffer.rewind();
        check(buffer);
        jpvmBuffer more = new jpvmBuffer();
        more.pack(1);
        more.pack("two");
        assertEquals(1, more.upkint());
        assertEquals("two", more.upkstr());
        more.pack(3);
        assertEquals(3, more.upkint());
        assertFalse(JPVM.pvm_probe(), "reading it left a message behind");
        assertEquals(Code.NO_DATA, reason(() -> new jpvmBuffer().upkint()));
    }

    private static jpvmBuffer passedOn(jpvmBuffer buffer) {
        JPVM.pvm_send(buffer, JPVM.pvm_mytid(), 1);
        return JPVM.pvm_recv(1).buffer;
    }

    @Test
    void aReceivedBufferIsSentOnHoweverFarItIsRead() {
        jpvmBuffer got = passedOn(passedOn(all()));
        check(got);
        check(passedOn(got));
        jpvmBuffer few = new jpvmBuffer();
        few.pack(new long[] {1, 2}, 2, 1);
        jpvmBuffer half = passedOn(few);
        assertEquals(1, half.upklong());
        jpvmBuffer whole = passedOn(half);
        assertEquals(2, half.upklong());
        assertEquals(1, whole.upklong());
        assertEquals(2, whole.upklong());
        byte[] large = new byte[1_000_000];
        Arrays.fill(large, (byte) 3);
        jpvmBuffer much = new jpvmBuffer();
        much.pack(large, large.length, 1);
        byte[] back = new byte[large.length];
        passedOn(passedOn(much)).unpack(back, back.length, 1);
        assertArrayEquals(large, back);
        assertEquals(Code.NO_DATA, reason(passedOn(passedOn(new jpvmBuffer()))::upkbyte));
        assertEquals(Code.BAD_PARAM, reason(() -> whole.pack(1)));
    }

    /** A received message is freed when it was read to its end; what was read must be there again. */
    @Test
    void whatWasReadToItsEndIsReadAgainInOtherPieces() {
        double[] doubles = new double[200];
        Arrays.setAll(doubles, i -> i);
        jpvmBuffer buffer = new jpvmBuffer();
        buffer.pack(1);
        buffer.pack(new int[] {2, 0, 3}, 2, 2);
        buffer.pack(new int[] {4, 5}, 2, 1);
        buffer.pack(doubles, 200, 1);
        buffer.pack("end");
        buffer.pack(6);
        jpvmBuffer got = passedOn(buffer);
        for (int round = 0; round < 3; round++) {
            int[] ints = new int[5];
            got.unpack(ints, 3 + round % 2, 1);
            assertArrayEquals(new int[] {1, 2, 3, round % 2 * 4, 0}, ints);
            if (round % 2 == 0) {
                assertEquals(4, got.upkint());
            }
            assertEquals(5, got.upkint());
            double[] half = new double[100];
            for (int part = 0; part < 2; part++) {
                got.unpack(half, 100, 1);
                assertEquals(99 + 100 * part, half[99]);
            }
            assertEquals("end", got.upkstr());
            assertEquals(6, got.upkint());
            assertEquals(Code.NO_DATA, reason(got::upkint));
            assertEquals(1, passedOn(got).upkint());
            got.rewind();
        }
    }

    /** A read that fails leaves the message at its end, and what it passed over was lost by a rewind. */
    @Test
    void aReadThatFailsTakesNothingFromALaterOne() {
        jpvmBuffer buffer = new jpvmBuffer();
        buffer.pack(1);
        buffer.pack(2.5);
        jpvmBuffer got = passedOn(buffer);
        assertEquals(1, got.upkint());
        assertEquals(Code.NO_DATA, reason(() -> got.unpack(new double[9], 9, 1)));
        got.unpack(new int[0], 0, 1);
        assertEquals(Code.NO_DATA, reason(got::upkint));
        got.rewind();
        assertEquals(1, got.upkint());
        assertEquals(2.5, got.upkdouble());
    }

    /** Much is packed by the library at once, behind the little that waited in Java. */
    @Test
    void muchComesBehindLittleAndBeforeMore() {
        long[] much = new long[20_000];
        Arrays.setAll(much, i -> i);
        jpvmBuffer buffer = new jpvmBuffer();
        buffer.pack("first");
        buffer.pack(7);
        buffer.pack(much, much.length, 1);
        buffer.pack(8);
        int[] ints = new int[20_000];
        buffer.pack(ints, ints.length, 1);
        ints[0] = 1;
        jpvmTaskId self = JPVM.pvm_mytid();
        JPVM.pvm_mcast(buffer, new jpvmTaskId[] {self, self}, 2, 6);
        for (int i = 0; i < 2; i++) {
            jpvmBuffer got = JPVM.pvm_recv(6).buffer;
            for (int round = 0; round < 2; round++) {
                long[] back = new long[much.length];
                assertEquals("first", got.upkstr());
                assertEquals(7, got.upkint());
                got.unpack(back, back.length, 1);
                assertArrayEquals(much, back);
                assertEquals(8, got.upkint());
                got.unpack(ints, ints.length, 1);
                assertEquals(0, ints[0]);
                got.rewind();
            }
        }
    }

    @Test
    void aMulticastReachesAlsoTheSenderAndSomebodyTwice() {
        jpvmTaskId self = JPVM.pvm_mytid();
        jpvmBuffer buffer = new jpvmBuffer();
        buffer.pack(5);
        JPVM.pvm_mcast(buffer, new jpvmTaskId[] {self, self, self}, 2, 6);
        assertEquals(5, JPVM.pvm_recv(6).buffer.upkint());
        assertEquals(5, JPVM.pvm_nrecv(self, 6).buffer.upkint());
        assertNull(JPVM.pvm_nrecv(self, 6));
    }

    /** Each name of JPVM's description, with its parameters. */
    @Test
    void everyNameOfTheDescriptionIsThere() throws Exception {
        Class<?> env = jpvmEnvironment.class;
        Class<?> tid = jpvmTaskId.class;
        Class<?> tids = jpvmTaskId[].class;
        env.getConstructor();
        env.getConstructor(String.class, boolean.class);
        assertNull(env.getField("PvmNoParent").get(null));
        for (String name : List.of("pvm_mytid", "pvm_parent")) {
            assertEquals(tid, env.getMethod(name).getReturnType());
        }
        assertEquals(int.class, env.getMethod("pvm_spawn", String.class, int.class, tids).getReturnType());
        env.getMethod("pvm_send", jpvmBuffer.class, tid, int.class);
        env.getMethod("pvm_mcast", jpvmBuffer.class, tids, int.class, int.class);
        for (Class<?>[] selection : new Class<?>[][] {{tid, int.class}, {tid}, {int.class}, {}}) {
            assertEquals(jpvmMessage.class, env.getMethod("pvm_recv", selection).getReturnType());
            assertEquals(jpvmMessage.class, env.getMethod("pvm_nrecv", selection).getReturnType());
            assertEquals(boolean.class, env.getMethod("pvm_probe", selection).getReturnType());
        }
        env.getMethod("pvm_exit");
        env.getMethod("pvm_halt");
        assertEquals(jpvmConfiguration.class, env.getMethod("pvm_config").getReturnType());
        assertEquals(jpvmTaskStatus.class,
                env.getMethod("pvm_tasks", jpvmConfiguration.class, int.class).getReturnType());
        env.getMethod("pvm_addhosts", int.class, String[].class, tids);
        assertEquals(String.class, env.getMethod("pvm_daemon_file_name").getReturnType());
        assertEquals(int.class, jpvmConfiguration.class.getField("numHosts").getType());
        assertEquals(String[].class, jpvmConfiguration.class.getField("hostNames").getType());
        assertEquals(tids, jpvmConfiguration.class.getField("hostDaemonTids").getType());
        assertEquals(int.class, jpvmMessage.class.getField("messageTag").getType());
        assertEquals(tid, jpvmMessage.class.getField("sourceTid").getType());
        assertEquals(tid, jpvmMessage.class.getField("destTid").getType());
        assertEquals(jpvmBuffer.class, jpvmMessage.class.getField("buffer").getType());
        tid.getConstructor(String.class, int.class);
        Class<?>[] items = {int.class, char.class, short.class, long.class, byte.class, float.class, double.class, tid};
        for (Class<?> item : items) {
            Class<?> array = item.arrayType();
            jpvmBuffer.class.getMethod("pack", item);
            jpvmBuffer.class.getMethod("pack", array, int.class, int.class);
            jpvmBuffer.class.getMethod("unpack", array, int.class, int.class);
            String name = item == tid ? "upktid" : "upk" + item.getName();
            assertEquals(item, jpvmBuffer.class.getMethod(name).getReturnType());
        }
        jpvmBuffer.class.getMethod("pack", String.class);
        assertEquals(String.class, jpvmBuffer.class.getMethod("upkstr").getReturnType());
        jpvmBuffer.class.getMethod("rewind");
        assertTrue(Throwable.class.isAssignableFrom(jpvmException.class));
        jpvmDaemon.class.getMethod("main", String[].class);
        jpvmConsole.class.getMethod("main", String[].class);
    }

    @Test
    void messagesAreSelectedByTaskAndTag() {
        jpvmTaskId self = JPVM.pvm_mytid();
        for (int tag = 1; tag <= 8; tag++) {
            JPVM.pvm_send(new jpvmBuffer(), self, tag);
        }
        assertTrue(JPVM.pvm_probe() && JPVM.pvm_probe(8) && JPVM.pvm_probe(self) && JPVM.pvm_probe(self, 7));
        jpvmTaskId other = new jpvmTaskId("nowhere", self.getPort() + 1);
        assertFalse(JPVM.pvm_probe(9) || JPVM.pvm_probe(other) || JPVM.pvm_probe(other, 7));
        assertNull(JPVM.pvm_nrecv(9));
        assertNull(JPVM.pvm_nrecv(other));
        assertEquals(8, JPVM.pvm_recv(8).messageTag);
        assertEquals(7, JPVM.pvm_recv(self, 7).messageTag);
        assertEquals(1, JPVM.pvm_recv(self).messageTag);
        assertEquals(2, JPVM.pvm_recv().messageTag);
        assertEquals(6, JPVM.pvm_nrecv(6).messageTag);
        assertEquals(3, JPVM.pvm_nrecv(self).messageTag);
        assertEquals(4, JPVM.pvm_nrecv().messageTag);
        assertEquals(5, JPVM.pvm_nrecv(self, 5).messageTag);
        assertNull(JPVM.pvm_nrecv());
    }

    @Test
    void wrongArgumentsAreTold() {
        jpvmBuffer buffer = new jpvmBuffer();
        int[] two = new int[2];
        assertEquals(Code.BAD_PARAM, reason(() -> buffer.pack(two, 3, 1)));
        assertEquals(Code.BAD_PARAM, reason(() -> buffer.pack(two, 2, 2)));
        assertEquals(Code.BAD_PARAM, reason(() -> buffer.pack(two, -1, 1)));
        assertEquals(Code.BAD_PARAM, reason(() -> buffer.pack(two, 1, 0)));
        assertEquals(Code.BAD_PARAM, reason(() -> buffer.pack("a\0b")));
        assertEquals(Code.BAD_PARAM, reason(() -> JPVM.pvm_send(buffer, JPVM.pvm_mytid(), -2)));
        assertEquals(Code.BAD_PARAM, reason(() -> JPVM.pvm_spawn("JpvmTest", 2, new jpvmTaskId[1])));
        assertEquals(Code.BAD_PARAM, reason(() -> JPVM.pvm_tasks(JPVM.pvm_config(), 99)));
        jpvmException missing = assertThrows(jpvmException.class,
                () -> JPVM.pvm_spawn("no.such.Class", 1, new jpvmTaskId[1]));
        assertEquals(Code.NO_FILE, missing.code());
        assertTrue(missing.getMessage().contains("no.such.Class"), missing.getMessage());
        assertNull(new jpvmException("a program's own").code());
    }

    @Test
    void hostsAndTasksAreShown() {
        jpvmConfiguration hosts = JPVM.pvm_config();
        assertEquals(2, hosts.numHosts);
        assertEquals(2, hosts.hostNames.length);
        jpvmTaskId self = JPVM.pvm_mytid();
        String[] names = {};
        for (int i = 0; i < hosts.numHosts; i++) {
            jpvmTaskStatus tasks = JPVM.pvm_tasks(hosts, i);
            assertEquals(hosts.hostNames[i], tasks.hostName);
            assertEquals(tasks.numTasks, tasks.taskTids.length);
            int mine = Arrays.asList(tasks.taskTids).indexOf(self);
            if (mine >= 0) {
                names = tasks.taskNames;
                assertEquals("a test", names[mine]);
                assertEquals(hosts.hostNames[i], self.getHost());
                assertEquals(hosts.hostNames[i], hosts.hostDaemonTids[i].getHost());
            }
        }
        assertNotEquals(0, names.length);
        assertEquals(self, new jpvmTaskId(self.getHost(), self.getPort()));
        assertEquals("t" + Integer.toHexString(self.getPort()) + "@" + self.getHost(), self.toString());
        assertTrue(Files.exists(Path.of(jpvmEnvironment.pvm_daemon_file_name())));
        JPVM.pvm_addhosts(1, new String[] {hosts.hostNames[0]}, null);
        assertNotNull(reason(() -> JPVM.pvm_addhosts(1, new String[] {"no-such-host.invalid"}, null)));
        assertNull(JPVM.pvm_parent());
    }

    @Test
    void aPartnerInCAnswersAndItsEndIsTold() throws Exception {
        int partner;
        try (Pvm pvm = Pvm.connect()) {
            partner = pvm.spawn(System.getProperty("test.programs") + "/jpvm_partner", List.of(), Place.HERE, 1)
                    .orThrow().tasks().get(0).number();
        }
        jpvmTaskId tid = new jpvmTaskId("here", partner);
        JPVM.pvm_notify(jpvmEnvironment.PvmTaskExit, 9, 1, new jpvmTaskId[] {tid});
        for (int i = 0; i < 3; i++) {
            jpvmBuffer buffer = new jpvmBuffer();
            buffer.pack("grüße");
            buffer.pack(i / 2.0);
            JPVM.pvm_send(buffer, tid, 1);
            jpvmMessage answer = JPVM.pvm_recv(tid, 2);
            assertEquals("grüße", answer.buffer.upkstr());
            assertEquals(i / 2.0, answer.buffer.upkdouble());
        }
        try (Pvm pvm = Pvm.connect()) {
            pvm.kill(new TaskId(partner));
        }
        assertEquals(tid, JPVM.pvm_recv(9).buffer.upktid());
    }
}
