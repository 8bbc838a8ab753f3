// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.lang.management.ManagementFactory;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;

/** Looks into small messages and forgets them, and the views ({@link FullTest}). */
final class ViewsChild {
    private static final int COUNT = 50_000;
    private static final Pattern OTHER = Pattern.compile("Other \\(reserved=(\\d+)KB");

    private ViewsChild() {}

    /** Kilobytes of native memory that Java's own classes have reserved for programs. */
    private static int reserved() throws Exception {
        Object told = ManagementFactory.getPlatformMBeanServer().invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"), "vmNativeMemory",
                new Object[] {new String[] {"summary", "scale=KB"}}, new String[] {String[].class.getName()});
        Matcher other = OTHER.matcher((String) told);
        return other.find() ? Integer.parseInt(other.group(1)) : 0;
    }

    public static void main(String[] arguments) throws Exception {
        try (Pvm pvm = Pvm.connect()) {
            int before = reserved();
            for (int i = 0; i < COUNT; i++) {
                pvm.message().put(new int[] {1, 2, 3}).to(pvm.self(), 1);
                pvm.receive(pvm.self(), 1).viewInts(3).get(2);
            }
            // 12 bytes each; all of them make 600 KB.
            for (int tries = 0; reserved() > before + 100; tries++) {
                if (tries > 1000) {
                    throw new AssertionError(before + " KB before, " + reserved() + " after");
                }
                System.gc();
                Thread.sleep(20);
            }
            System.out.println("all is well");
        }
    }
}
