// SPDX-License-Identifier: MIT OR Apache-2.0

import java.util.Arrays;

/** Pair PARTNER WARM_UP REPETITIONS SIZE...: the twin of pair.c, whose head says what it does. */
public final class Pair {
    private static final String[] PARTS = {"send", "receive", "verify", "total"};

    private Pair() {}

    private static void fill(int[] data) {
        for (int i = 0; i < data.length; i++) {
            data[i] = i;
        }
    }

    /** The times of the parts. */
    private static long[] thereAndBack(Calls calls, int[] out, int[] in) throws InterruptedException {
        long begin = System.nanoTime();
        calls.send(out);
        long sent = System.nanoTime();
        calls.receive(in);
        long received = System.nanoTime();
        for (int i = 0; i < out.length; i++) {
            if (in[i] != out[i]) {
                throw new IllegalStateException("the data are damaged at int " + i + " of " + out.length);
            }
        }
        long end = System.nanoTime();
        return new long[] {sent - begin, received - sent, end - received, end - begin};
    }

    private static void lead(Calls calls, int warmUp, int repetitions, int ints) throws InterruptedException {
        int[] out = new int[ints];
        int[] in = new int[ints];
        fill(out);
        for (int i = 0; i < warmUp; i++) {
            thereAndBack(calls, out, in);
        }
        long[][] times = new long[repetitions][];
        for (int i = 0; i < repetitions; i++) {
            times[i] = thereAndBack(calls, out, in);
        }
        for (int part = 0; part < PARTS.length; part++) {
            int which = part;
            Measure.row(PARTS[part], 4L * ints, "ns", Arrays.stream(times).mapToDouble(all -> all[which]).toArray());
        }
    }

    private static void answer(Calls calls, int times, int ints) throws InterruptedException {
        int[] data = new int[ints];
        for (int i = 0; i < times; i++) {
            calls.receive(data);
            calls.send(data);
        }
    }

    /** Leads, or is the partner. */
    public static void main(String[] arguments) throws InterruptedException {
        int warmUp = Integer.parseInt(arguments[1]);
        int repetitions = Integer.parseInt(arguments[2]);
        try (Calls calls = new Calls(arguments[0], arguments)) {
            if (calls.leads()) {
                Measure.clock();
            }
            for (String size : Arrays.asList(arguments).subList(3, arguments.length)) {
                int ints = Integer.parseInt(size) / 4;
                if (calls.leads()) {
                    lead(calls, warmUp, repetitions, ints);
                } else {
                    answer(calls, warmUp + repetitions, ints);
                }
            }
        }
    }
}
