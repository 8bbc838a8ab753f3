// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** The class jPVM, each method but halt and delhosts. */
class JPVMClassTest {
    private static final String PARTNER = System.getProperty("test.programs") + "/jpvm_partner";

    @AfterAll
    static void leave() {
        jPVM.exit();
    }

    @Test
    void everyTypeComesBack() {
        int self = jPVM.mytid();
        for (int encoding : new int[] {jPVM.PvmDataDefault, jPVM.PvmDataRaw}) {
            assertEquals(jPVM.PvmOk, jPVM.initsend(encoding));
            assertEquals(0, jPVM.pkbyte(new byte[] {1, 2, 3}, 2, 2));
            assertEquals(0, jPVM.pkshort(new short[] {1, 2, 3}, 2, 2));
            assertEquals(0, jPVM.pkushort(new char[] {'a', 'b', 'c'}, 2, 2));
            assertEquals(0, jPVM.pkint(new int[] {1, 2, 3}, 2, 2));
            assertEquals(0, jPVM.pklong(new long[] {1, 2, 3}, 2, 2));
            assertEquals(0, jPVM.pkfloat(new float[] {1, 2, 3}, 2, 2));
            assertEquals(0, jPVM.pkdouble(new double[] {1, 2, 3}, 2, 2));
            assertEquals(0, jPVM.pkstr("seven"));
            assertEquals(0, jPVM.send(self, 5));
            assertEquals(1, jPVM.probe(-1, 5));
            assertTrue(jPVM.recv(self, 5) > 0);
            int[] bytes = {0};
            int[] tag = {0};
            int[] tid = {0};
            assertEquals(0, jPVM.bufinfo(bytes, tag, tid));
            assertTrue(bytes[0] > 60);
            assertEquals(5, tag[0]);
            assertEquals(self, tid[0]);
            byte[] b = new byte[3];
            short[] s = new short[3];
            char[] c = new char[3];
            int[] i = new int[3];
            long[] l = new long[3];
            float[] f = new float[3];
            double[] d = new double[3];
            String[] text = {null};
            assertEquals(0, jPVM.upkbyte(b, 2, 2));
            assertEquals(0, jPVM.upkshort(s, 2, 2));
            assertEquals(0, jPVM.upkushort(c, 2, 2));
            assertEquals(0, jPVM.upkint(i, 2, 2));
            assertEquals(0, jPVM.upklong(l, 2, 2));
            assertEquals(0, jPVM.upkfloat(f, 2, 2));
            assertEquals(0, jPVM.upkdouble(d, 2, 2));
            assertEquals(0, jPVM.upkstr(text));
            assertArrayEquals(new byte[] {1, 0, 3}, b);
            assertArrayEquals(new short[] {1, 0, 3}, s);
            assertArrayEquals(new char[] {'a', 0, 'c'}, c);
            assertArrayEquals(new int[] {1, 0, 3}, i);
            assertArrayEquals(new long[] {1, 0, 3}, l);
            assertArrayEquals(new float[] {1, 0, 3}, f);
            assertArrayEquals(new double[] {1, 0, 3}, d);
            assertEquals("seven", text[0]);
            assertEquals(jPVM.PvmNoData, jPVM.upkint(i, 1, 1));
        }
    }

    @Test
    void aPartnerInCIsStartedAndEnds() {
        int[] tids = {0};
        assertEquals(1, jPVM.spawn(PARTNER, null, jPVM.PvmTaskDefault, null, 1, tids));
        assertEquals(jPVM.PvmOk, jPVM.pstat(tids[0]));
        assertEquals(1, jPVM.tasks(tids[0]).length);
        assertTrue(jPVM.tidtohost(tids[0]) > 0);
        assertEquals(jPVM.PvmOk, jPVM.notify(jPVM.PvmTaskExit, 9, 1, tids));
        jPVM.initsend(jPVM.PvmDataDefault);
        jPVM.pkstr("text");
        jPVM.pkdouble(new double[] {1.5}, 1, 1);
        assertEquals(jPVM.PvmOk, jPVM.mcast(tids, 1, 1));
        assertTrue(jPVM.trecv(tids[0], 2, 120, 0) > 0);
        String[] text = {null};
        assertEquals(jPVM.PvmOk, jPVM.upkstr(text));
        assertEquals("text", text[0]);
        assertEquals(jPVM.PvmOk, jPVM.kill(tids[0]));
        assertTrue(jPVM.recv(-1, 9) > 0);
        int[] gone = {0};
        assertEquals(jPVM.PvmOk, jPVM.upkint(gone, 1, 1));
        assertEquals(tids[0], gone[0]);
        assertEquals(jPVM.PvmNoTask, jPVM.pstat(tids[0]));
    }

    @Test
    void groupsAndHosts() {
        String group = "jpvm-class-" + ProcessHandle.current().pid();
        assertEquals(0, jPVM.joingroup(group));
        assertEquals(1, jPVM.gsize(group));
        assertEquals(jPVM.mytid(), jPVM.gettid(group, 0));
        assertEquals(jPVM.PvmNoInst, jPVM.gettid(group, 7));
        assertEquals(0, jPVM.getinst(group, jPVM.mytid()));
        assertEquals(jPVM.PvmOk, jPVM.barrier(group, 1));
        jPVM.initsend(jPVM.PvmDataDefault);
        assertEquals(jPVM.PvmOk, jPVM.bcast(group, 4));
        assertEquals(0, jPVM.nrecv(-1, 4));
        assertEquals(jPVM.PvmOk, jPVM.lvgroup(group));
        assertEquals(2, jPVM.config().length);
        int[] results = {0};
        assertEquals(0, jPVM.addhosts(new String[] {"no-such-host.invalid"}, results));
        assertTrue(results[0] < 0);
        assertEquals(jPVM.PvmNoParent, jPVM.parent());
    }

    @Test
    void failuresAreNumbers() {
        assertEquals(jPVM.PvmBadParam, jPVM.initsend(9));
        assertEquals(jPVM.PvmNotImpl, jPVM.initsend(jPVM.PvmDataInPlace));
        jPVM.initsend(jPVM.PvmDataDefault);
        assertEquals(jPVM.PvmBadParam, jPVM.pkint(new int[1], 2, 1));
        assertEquals(jPVM.PvmBadParam, jPVM.pkint(null, 1, 1));
        assertEquals(jPVM.PvmBadParam, jPVM.pkstr("a\0b"));
        assertEquals(jPVM.PvmBadParam, jPVM.send(jPVM.mytid(), -1));
        assertEquals(jPVM.PvmBadParam, jPVM.spawn(PARTNER, null, 0, null, 3, new int[1]));
        int[] tids = {0};
        assertEquals(0, jPVM.spawn("/nowhere/program", null, 0, null, 1, tids));
        assertEquals(jPVM.PvmNoFile, tids[0]);
        assertEquals(jPVM.PvmBadParam, jPVM.trecv(-1, 3, Long.MAX_VALUE, 0));
        assertEquals(0, jPVM.nrecv(-1, 3));
        assertEquals(0, jPVM.trecv(-1, 3, 0, 1));
        assertEquals(jPVM.PvmOk, jPVM.perror("a test", jPVM.PvmNoFile));
    }
}
