// SPDX-License-Identifier: MIT OR Apache-2.0

import java.util.Arrays;
import java.util.List;
import org.neopvm.Encoding;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Engines;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Kind;
import org.neopvm.engine.Outgoing;

/** Times messages of ints that a partner sends back, and what packing costs; see timing.c, which does the same in C. */
public final class Timing {
    private static final int DATA = 1;
    private static final int END = 2;
    private static final int WARM = 5;
    private static final int TIMES = 10;
    private static final int BATCHES = 9;
    private static final int PACKED = 262144;
    /** The compiler of the JVM has done its work by then, beside programs that want its cores. */
    private static final int WARM_ROUNDS = 5_000;
    private static final long WARM_NS = 2_000_000_000;
    private static final int ON_HOST = 1;

    private final Engine engine;

    private Timing(Engine engine) {
        this.engine = engine;
    }

    private void send(int tid, int tag, Encoding encoding, int[] items) {
        // As Draft.to does.
        Outgoing message = engine.create(encoding);
        message.pack(Kind.INT, items, 0, items.length, 1);
        engine.sendLast(message, tid, tag, 0);
    }

    private void echo() throws InterruptedException {
        int[] items = new int[0];
        while (true) {
            int source;
            Encoding encoding;
            try (Incoming message = engine.receive(-1, -1, 0, -1)) {
                if (message.info().tag() == END) {
                    return;
                }
                source = message.info().source();
                encoding = message.info().encoding();
                int count = (int) (message.info().bytes() / 4);
                if (count != items.length) {
                    items = new int[count];
                }
                message.unpack(Kind.INT, items, 0, count, 1);
            }
            send(source, DATA, encoding, items);
        }
    }

    private int partner(String program, String where) throws InterruptedException {
        int tid = engine.spawn(program, List.of("echo"), ON_HOST, where, 1)[0];
        if (tid < 0) {
            throw new IllegalStateException("starting " + program + ": " + tid);
        }
        return tid;
    }

    private double[] once(int tid, int[] out, int[] in) throws InterruptedException {
        for (int i = 0; i < out.length; i++) {
            out[i] = i;
        }
        long start = System.nanoTime();
        send(tid, DATA, Encoding.RAW, out);
        long sent = System.nanoTime();
        Incoming message = engine.receive(-1, -1, 0, -1);
        message.unpack(Kind.INT, in, 0, in.length, 1);
        long received = System.nanoTime();
        for (int i = 0; i < out.length; i++) {
            if (in[i] != out[i]) {
                throw new IllegalStateException("other data at index " + i);
            }
        }
        long stop = System.nanoTime();
        message.close();
        return new double[] {(sent - start) / 1e6, (received - sent) / 1e6, (stop - received) / 1e6, (stop - start) / 1e6};
    }

    private void message(int tid, int megabytes) throws InterruptedException {
        int[] out = new int[megabytes * 250_000];
        int[] in = new int[out.length];
        for (int i = 0; i < WARM; i++) {
            once(tid, out, in);
        }
        double[][] laps = new double[TIMES][];
        for (int i = 0; i < TIMES; i++) {
            laps[i] = once(tid, out, in);
        }
        Arrays.sort(laps, (a, b) -> Double.compare(a[3], b[3]));
        double[] sum = new double[4];
        for (int i = 1; i < TIMES - 1; i++) {
            for (int part = 0; part < 4; part++) {
                sum[part] += laps[i][part] / (TIMES - 2);
            }
        }
        System.out.printf("%d %.3f %.3f %.3f %.3f%n", megabytes, sum[0], sum[1], sum[2], sum[3]);
    }

    private interface Work {
        void run(int rounds) throws InterruptedException;
    }

    private static double batches(Work work, int rounds) throws InterruptedException {
        long warm = System.nanoTime();
        do {
            work.run(Math.max(rounds, WARM_ROUNDS));
        } while (System.nanoTime() - warm < WARM_NS);
        double[] times = new double[BATCHES];
        for (int i = 0; i < BATCHES; i++) {
            long start = System.nanoTime();
            work.run(rounds);
            times[i] = (System.nanoTime() - start) / 1e3 / rounds;
        }
        Arrays.sort(times);
        return times[BATCHES / 2];
    }

    private void thereAndBack(int tid, int rounds) throws InterruptedException {
        int[] item = new int[1];
        int[] back = new int[1];
        for (int i = 0; i < rounds; i++) {
            item[0] = i;
            send(tid, DATA, Encoding.DEFAULT, item);
            try (Incoming message = engine.receive(-1, -1, 0, -1)) {
                message.unpack(Kind.INT, back, 0, 1, 1);
            }
            if (back[0] != i) {
                throw new IllegalStateException("another number");
            }
        }
    }

    private void pack(int rounds) throws InterruptedException {
        int[] items = new int[PACKED];
        double pack = batches(times -> {
            for (int i = 0; i < times; i++) {
                try (Outgoing message = engine.create(Encoding.DEFAULT)) {
                    message.pack(Kind.INT, items, 0, PACKED, 1);
                }
            }
        }, rounds);
        System.out.printf("pack %.2f%n", pack);
        send(engine.tid(), DATA, Encoding.DEFAULT, items);
        try (Incoming message = engine.receive(-1, -1, 0, -1)) {
            double unpack = batches(times -> {
                for (int i = 0; i < times; i++) {
                    message.rewind();
                    message.unpack(Kind.INT, items, 0, PACKED, 1);
                }
            }, rounds);
            System.out.printf("unpack %.2f%n", unpack);
        }
    }

    private static void count() {
        int i = 0;
        long start = System.nanoTime();
        for (int loop = 0; loop < 1000000000; loop++) {
            i += loop;
        }
        long stop = System.nanoTime();
        System.out.printf("%.6f %d%n", (stop - start) / 1e9, i);
    }

    /** Modes as in timing.c. */
    public static void main(String[] arguments) throws InterruptedException {
        String mode = arguments[0];
        if (mode.equals("count")) {
            count();
            return;
        }
        Engine engine = Engines.open();
        Timing timing = new Timing(engine);
        switch (mode) {
            case "echo" -> timing.echo();
            case "pack" -> timing.pack(Integer.parseInt(arguments[1]));
            case "loop", "message" -> {
                int tid = timing.partner(arguments[1], arguments[2]);
                if (mode.equals("loop")) {
                    int rounds = Integer.parseInt(arguments[3]);
                    System.out.printf("loop %.3f%n", batches(times -> timing.thereAndBack(tid, times), rounds));
                } else {
                    for (int i = 3; i < arguments.length; i++) {
                        timing.message(tid, Integer.parseInt(arguments[i]));
                    }
                }
                timing.send(tid, END, Encoding.DEFAULT, new int[1]);
            }
            default -> throw new IllegalArgumentException(mode);
        }
        engine.leave();
    }
}
