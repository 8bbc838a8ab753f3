// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Where memory for messages is short nobody fails who needs none, and nothing is lost. Each in a process of its own. */
class FullTest {
    private static String run(Class<?> program, String option, String... arguments) throws Exception {
        String told = Machine.java(program, List.of(option), Map.of(), arguments);
        assertTrue(told.contains("all is well"), told);
        return told;
    }

    private static void only(String engine, String why) {
        Assumptions.assumeTrue(System.getProperty("pvm.engine", "").equals(engine), why);
    }

    @Test
    void whileOpenMessagesHoldAllWhoWaitsForAnotherGoesOnAndNoticesCome() throws Exception {
        only("native", "messages of the wire engine are in Java's memory");
        run(FullChild.class, "-Dpvm.messages.max=5000000");
    }

    @Test
    void aFullHeapFailsOneReceiveAndLosesNothing() throws Exception {
        only("wire", "messages of the native engine are not in Java's memory");
        // Whole, of almost a part, and in parts.
        run(HeapChild.class, "-Xmx48m", "900", "100");
        run(HeapChild.class, "-Xmx48m", "2000", "60");
    }

    @Test
    void viewsOfSmallMessagesThatAreForgottenAreGivenBack() throws Exception {
        only("native", "messages of the wire engine are in Java's memory");
        run(ViewsChild.class, "-XX:NativeMemoryTracking=summary");
    }
}
