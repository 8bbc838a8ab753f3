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
