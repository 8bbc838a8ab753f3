// SPDX-License-Identifier: MIT OR Apache-2.0

/** Loop REPETITIONS ADDITIONS: the time of a loop of additions; the twin of loop.c. */
public final class Loop {
    private Loop() {}

    /** The loop. */
    public static void main(String[] arguments) {
        double[] times = new double[Integer.parseInt(arguments[0])];
        int additions = Integer.parseInt(arguments[1]);
        int sum = 0;
        for (int i = 0; i < times.length; i++) {
            long begin = System.nanoTime();
            for (int loop = 0; loop < additions; loop++) {
                sum += loop;
            }
            times[i] = (System.nanoTime() - begin) / 1e9;
        }
        // Without a use of it nothing would be added.
        System.err.println("the sum is " + sum);
        Measure.row("loop", additions, "s", times);
    }
}
