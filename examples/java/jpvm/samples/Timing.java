// SPDX-License-Identifier: MIT OR Apache-2.0
package samples;

import jpvm.*;

/** Round trips of messages of several sizes with a task of this class. Argument: round trips of each size. */
public class Timing {
    static final int[] SIZES = {0, 1, 100, 10_000, 1_000_000};

    public static void main(String[] args) {
        try {
            jpvmEnvironment jpvm = new jpvmEnvironment();
            jpvmTaskId parent = jpvm.pvm_parent();
            if (parent != jpvmEnvironment.PvmNoParent) {
                echo(jpvm, parent);
            } else {
                measure(jpvm, Integer.parseInt(args[0]));
            }
            jpvm.pvm_exit();
        } catch (jpvmException e) {
            e.printStackTrace();
        }
    }

    static void echo(jpvmEnvironment jpvm, jpvmTaskId parent) throws jpvmException {
        for (;;) {
            jpvmMessage message = jpvm.pvm_recv();
            if (message.messageTag == 0) {
                return;
            }
            jpvm.pvm_send(message.buffer, parent, message.messageTag);
        }
    }

    static void measure(jpvmEnvironment jpvm, int rounds) throws jpvmException {
        jpvmTaskId[] echo = new jpvmTaskId[1];
        jpvm.pvm_spawn("samples.Timing", 1, echo);
        for (int size : SIZES) {
            byte[] bytes = new byte[size];
            new java.util.Random(size).nextBytes(bytes);
            long begin = System.nanoTime();
            boolean whole = true;
            for (int i = 0; i < rounds; i++) {
                jpvmBuffer buffer = new jpvmBuffer();
                buffer.pack(bytes, size, 1);
                jpvm.pvm_send(buffer, echo[0], 1);
                byte[] back = new byte[size];
                jpvm.pvm_recv(echo[0], 1).buffer.unpack(back, size, 1);
                whole &= java.util.Arrays.equals(bytes, back);
            }
            double us = (System.nanoTime() - begin) / 1000.0 / rounds;
            System.out.printf("%d bytes, %.2f us, %s%n", size, us, whole ? "whole" : "damaged");
        }
        jpvm.pvm_send(new jpvmBuffer(), echo[0], 0);
    }
}
