// SPDX-License-Identifier: MIT OR Apache-2.0

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Output of the measured programs in Java; measure.h says what the lines are. */
final class Measure {
    private static final int CLOCK_READINGS = 100_000;

    private Measure() {}

    /** What reading the clock costs. */
    static void clock() {
        long sum = 0;
        // The mean of the last of them: the first ones are slow until they are compiled.
        for (int i = 0; i < 2 * CLOCK_READINGS; i++) {
            long begin = System.nanoTime();
            long took = System.nanoTime() - begin;
            sum += i < CLOCK_READINGS ? 0 : took;
        }
        System.out.printf(Locale.ROOT, "clock\t%.1f%n", (double) sum / CLOCK_READINGS);
    }

    static void row(String test, long size, String unit, double[] values) {
        String all = Arrays.stream(values).mapToObj(value -> String.format(Locale.ROOT, "%.7g", value))
                .collect(Collectors.joining(" "));
        System.out.printf("row\t%s\t%d\t%s\t%s%n", test, size, unit, all);
        System.out.flush();
    }
}
